import { encodeAbiParameters, RawContractError, toFunctionSelector } from 'viem'
import { expect, it } from 'vitest'
import { only } from '../../../../test/support/only.js'
import type { Quote } from '../../../protocol/src/quotes/quote.js'
import { createDepositAddresses } from '../../src/risk/deposit-addresses.js'
import { openState } from '../../src/state.js'

const SOLVER = `0x${'a1'.repeat(20)}` as const
const TOKEN = `0x${'70'.repeat(20)}` as const
const DAY = 86_400
const START = 2_000_000_000

const past: Quote = {
  solver: SOLVER,
  user: SOLVER,
  inputToken: TOKEN,
  inputAmount: 1n,
  outputToken: TOKEN,
  outputAmount: 1n,
  orderType: 'EXACT_INPUT',
  outputChainId: 1,
  depositDeadline: START - 200,
  fillDeadline: START - 100,
  nonce: 5n,
}
const next = { ...past, depositDeadline: START + 100, fillDeadline: START + 200 }

/** A contract that reverts with an error, or with none. The node says `null` in its place. @param isUsed whether it has used the nonce of the past quote */
function startAddresses(revert: string | undefined | null, isUsed = true) {
  const state = openState(':memory:')
  const known = { chainId: 1, orderId: TOKEN, depositAddress: TOKEN, isForAddress: true } as const
  const signed = { ...known, quote: past, signature: '0x' } as const
  state.addQuote(signed)
  state.endQuote(signed.orderId, START)
  let time = START
  let asked = 0
  const client = {
    request: async () => encodeAbiParameters([{ type: 'bool' }], [isUsed]),
    async call() {
      asked++
      if (!revert) return { data: revert as undefined }
      const data = toFunctionSelector(revert) + encodeAbiParameters([{ type: 'uint256' }], [5n]).slice(2)
      throw new RawContractError({ data: data as `0x${string}` })
    },
  }
  const chain = { chainId: 1, settlement: TOKEN, client }
  const times = { passed: () => time, atDepth: () => ({ blockNumber: 9n }) }
  return {
    build: () => createDepositAddresses(only({ chain, solver: SOLVER, state, time: times })),
    asked: () => asked,
    pass(seconds: number) {
      time += seconds
    },
  }
}

it.each([
  ['gives back', undefined, true, false, 200],
  ['has nothing to give back', 'NothingDeposited(bytes32)', true, false, 200],
  ['keeps tokens', 'NonceAlreadyUsed()', true, true, 100],
  ['keeps tokens and says which nonce', 'NonceAlreadyUsed(address,uint256)', true, true, 100],
  ['says something else', 'OrderNotFound()', true, true, 200],
  ['has not used the nonce', undefined, false, true, 200],
  ['is said to answer null', null, true, true, 200],
])(
  'a contract that %s: the careful answer holds until it is known, also after a restart',
  async (_title, revert, isUsed, keepsTokens, lastSettle) => {
    const { build } = startAddresses(revert, isUsed)
    const addresses = build()
    expect(addresses.keepsTokens()).toBe(true)
    expect(addresses.lastSettle(next)).toBe(next.fillDeadline)
    await addresses.learn()
    for (const one of [addresses, build()]) {
      expect(one.keepsTokens()).toBe(keepsTokens)
      expect(one.lastSettle(next)).toBe(START + lastSettle)
    }
  },
)

it('a contract that does not say it is asked again, and one that has said it never again', async () => {
  const unclear = startAddresses('OrderNotFound()')
  const addresses = unclear.build()
  await addresses.learn()
  await addresses.learn()
  expect(unclear.asked()).toBe(2)
  const clear = startAddresses(undefined)
  await clear.build().learn()
  clear.pass(DAY)
  await clear.build().learn()
  expect(clear.asked()).toBe(1)
})
