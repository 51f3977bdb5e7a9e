import { decodeFunctionData, encodeFunctionResult, type Hex } from 'viem'
import { expect, it } from 'vitest'
import { settlementAbi } from '../../../gen/contracts/settlement.js'
import type { OfferVerdict } from '../../../packages/protocol/src/quotes/offer-state.js'
import { checkOffer, type OfferToCheck } from '../../../src/chain/verification/offer-check.js'
import type { RpcAnswer } from '../../../src/chain/verification/verification-endpoint.js'
import { SOLVER, signedQuote } from '../../support/solvers/sample-quotes.js'

const NEVER = new AbortController().signal
const SETTLEMENT = SOLVER
const ZERO = `0x${'0'.repeat(40)}` as const
const BLOCK_TIME = signedQuote().quote.depositDeadline
/** Three thousand, of which the contract reserves 5 percent. */
const { outputAmount } = signedQuote().quote

/** What a contract and a node say. A view without a value reverts; one that throws is not answered. */
const SOUND = {
  deposit: { error: { code: 3, message: 'execution reverted', data: '0x' } } as RpcAnswer,
  time: BLOCK_TIME,
  solvers: [150n, 0n, 0n, 0, true] as readonly unknown[] | Error,
  orderState: 0,
  isNonceUsed: false as boolean | Error,
  BOND_RESERVATION_BPS: 500n as bigint | Error | undefined,
  MIN_ORDER: outputAmount as bigint | Error | undefined,
  isSigned: true,
}

/** Checks the sample offer at such a node. */
async function check(changes: Partial<typeof SOUND>) {
  const said = { ...SOUND, ...changes }
  const values: Record<string, unknown> = {
    ...said,
    orders: [ZERO, ZERO, ZERO, 0n, ZERO, 0n, 0n, 0, said.orderState],
  }

  async function read(method: string, params: readonly unknown[]): Promise<unknown> {
    const hash = `0x${'1'.repeat(64)}`
    if (method === 'eth_getBlockByNumber')
      return { number: '0x7', hash, parentHash: hash, timestamp: `0x${said.time.toString(16)}` }
    const [{ data }, at] = params as [{ data: Hex }, string]
    expect(at).toBe('0x7')
    const { functionName } = decodeFunctionData({ abi: settlementAbi, data })
    const value = values[functionName]
    if (value instanceof Error) throw value
    if (value === undefined) throw { code: 3, message: 'execution reverted' }
    return encodeFunctionResult({ abi: settlementAbi, functionName, result: value } as never)
  }

  const offer: OfferToCheck = { ...signedQuote(), isSigned: said.isSigned }
  const endpoint = { read, callDeposit: async () => said.deposit, close() {} }
  return (await checkOffer(offer, { chainId: 1, settlement: SETTLEMENT }, endpoint, NEVER)).verdict
}

const answered = (data: string): RpcAnswer => ({ error: { code: 3, message: '', data } })
const dead = (code: string) => ({ state: 'DEAD', code })

it.each<[string, Partial<typeof SOUND>, object]>([
  ['every view allows it', {}, { state: 'VALID' }],
  ['an error of a token is not known', { deposit: answered('0x12345678') }, { state: 'VALID' }],
  [
    'the contract has no such views',
    { BOND_RESERVATION_BPS: undefined, MIN_ORDER: undefined },
    { state: 'VALID' },
  ],
  ['the order exists', { orderState: 2 }, { state: 'TAKEN' }],
  ['its time was over a second ago', { time: BLOCK_TIME + 1 }, dead('EXPIRED')],
  ['the signature is of another', { isSigned: false }, dead('SIGNATURE_INVALID')],
  ['the nonce is used', { isNonceUsed: true }, dead('NONCE_USED')],
  ['the output is too small', { MIN_ORDER: outputAmount + 1n }, dead('BELOW_MINIMUM_ORDER')],
  ['the bond is too small by one', { solvers: [150n, 1n, 0n, 0, true] }, dead('BOND_TOO_SMALL')],
  [
    'the solver has left',
    { solvers: [150n, 0n, 0n, 0, false] },
    { ...dead('REFUSED'), refusal: 'SolverNotRegistered' },
  ],
  [
    'the node has an error of its own',
    { deposit: { error: { code: -32000, message: 'busy' } } },
    { state: 'UNKNOWN', reason: 'node_error' },
  ],
])('when `deposit` says nothing that is known, and %s', async (_what, changes, verdict) => {
  expect(await check(changes)).toEqual(verdict satisfies object as OfferVerdict)
})

it.each(['solvers', 'isNonceUsed', 'BOND_RESERVATION_BPS', 'MIN_ORDER'])(
  'a node that does not answer %s leaves the state unknown',
  async (view) => {
    await expect(check({ [view]: new Error('no answer') })).rejects.toThrow('could not be read')
  },
)
