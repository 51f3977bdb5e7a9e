import { decodeFunctionData, encodeFunctionResult, type Hex } from 'viem'
import { expect, it } from 'vitest'
import { settlementAbi } from '../../../gen/contracts/settlement.js'
import { checkOffer, type OfferToCheck } from '../../../src/chain/verification/offer-check.js'
import type { RpcAnswer } from '../../../src/chain/verification/verification-endpoint.js'
import { SOLVER, signedQuote } from '../../support/solvers/sample-quotes.js'

const NEVER = new AbortController().signal
const SETTLEMENT = SOLVER
const ZERO = `0x${'0'.repeat(40)}` as const
const BLOCK_TIME = signedQuote().quote.depositDeadline
/** Three thousand, of which the contract reserves 5 percent. */
const { outputAmount } = signedQuote().quote

/** What the newest block, the views of a contract and the signature say. A view without a value reverts; one that throws is not answered. */
const JUST_VALID: Record<string, unknown> = {
  time: BLOCK_TIME,
  isSigned: true,
  orders: orderIn(0),
  solvers: [150n, 0n, 0n, 0, true],
  isNonceUsed: false,
  BOND_RESERVATION_BPS: 500n,
  MIN_ORDER: outputAmount,
}
const REVERTED: RpcAnswer = { error: { code: 3, message: 'execution reverted', data: '0x' } }

function orderIn(state: number) {
  return [ZERO, ZERO, ZERO, 0n, ZERO, 0n, 0n, 0, state]
}

/** Checks the sample offer at such a node. */
async function check(changes: Record<string, unknown>, deposit = REVERTED) {
  const said = { ...JUST_VALID, ...changes }

  async function read(method: string, params: readonly unknown[]): Promise<unknown> {
    const hash = `0x${'1'.repeat(64)}`
    if (method === 'eth_getBlockByNumber')
      return { number: '0x7', hash, parentHash: hash, timestamp: `0x${Number(said.time).toString(16)}` }
    const [{ data }, at] = params as [{ data: Hex }, string]
    expect(at).toBe('0x7')
    const { functionName } = decodeFunctionData({ abi: settlementAbi, data })
    const result = said[functionName]
    if (result instanceof Error) throw result
    if (result === undefined) throw { code: 3, message: 'execution reverted' }
    return encodeFunctionResult({ abi: settlementAbi, functionName, result } as never)
  }

  const offer: OfferToCheck = { ...signedQuote(), isSigned: said.isSigned === true }
  const endpoint = { read, callDeposit: async () => deposit, close() {} }
  return (await checkOffer(offer, { chainId: 1, settlement: SETTLEMENT }, endpoint, NEVER)).verdict
}

const dead = (code: string) => ({ state: 'DEAD', code })

it.each<[string, object, Record<string, unknown>, RpcAnswer?]>([
  ['every view just allows it', { state: 'VALID' }, {}],
  [
    'the contract has no such views',
    { state: 'VALID' },
    { BOND_RESERVATION_BPS: undefined, MIN_ORDER: undefined },
  ],
  ['the order exists', { state: 'TAKEN' }, { orders: orderIn(2) }],
  ['its time was over a second ago', dead('EXPIRED'), { time: BLOCK_TIME + 1 }],
  ['the signature is of another', dead('SIGNATURE_INVALID'), { isSigned: false }],
  ['the nonce is used', dead('NONCE_USED'), { isNonceUsed: true }],
  ['the output is too small', dead('BELOW_MINIMUM_ORDER'), { MIN_ORDER: outputAmount + 1n }],
  ['the bond is too small by one', dead('BOND_TOO_SMALL'), { solvers: [150n, 1n, 0n, 0, true] }],
  [
    'the solver has left',
    { ...dead('REFUSED'), refusal: 'SolverNotRegistered' },
    { solvers: [150n, 0n, 0n, 0, false] },
  ],
  [
    'the node has an error of its own',
    { state: 'UNKNOWN', reason: 'node_error' },
    {},
    { error: { code: -32000, message: 'busy' } },
  ],
])('when `deposit` says nothing that is known, and %s', async (_what, verdict, changes, deposit) => {
  expect(await check(changes, deposit)).toEqual(verdict)
})

it.each(['solvers', 'isNonceUsed', 'BOND_RESERVATION_BPS', 'MIN_ORDER'])(
  'a node that does not answer %s leaves the state unknown',
  async (view) => {
    await expect(check({ [view]: new Error('no answer') })).rejects.toThrow('could not be read')
  },
)
