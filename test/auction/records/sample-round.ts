import type { SignedQuote } from '../../../packages/protocol/src/quotes/quote.js'
import type { SolverResult } from '../../../packages/protocol/src/solvers/solver-result.js'
import type { Address } from '../../../packages/protocol/src/values/hex.js'
import type { SolverAttempt } from '../../../src/auction/attempt.js'
import type { EndedRound } from '../../../src/auction/sinks.js'

/** An address that contains a number. */
export function solverAddress(number: number): Address {
  return `0x${number.toString(16).padStart(40, '0')}`
}

const request = {
  chainId: 1,
  inputToken: solverAddress(0xa),
  outputToken: solverAddress(0xb),
  orderType: 'EXACT_INPUT',
  kind: 'FIRM',
  amount: 1n,
  user: solverAddress(0xc),
  destinationChainId: 10,
  depositMode: 'CONTRACT',
  depositDeadline: 1_800_000_000,
  fillDeadline: 1_800_000_120,
} as const

/** An offer of the solver with this number, without a signature, which records do not have. */
export function signed(number: number, outputAmount: bigint): SignedQuote {
  const { user, inputToken, outputToken, orderType, depositDeadline, fillDeadline } = request
  const terms = { user, inputToken, outputToken, orderType, depositDeadline, fillDeadline }
  const solver = solverAddress(number)
  const quote = { ...terms, solver, inputAmount: 1n, outputAmount, outputChainId: 10, nonce: 0n }
  return { quote, signature: '0x', orderId: '0x', depositAddress: '0x' }
}

/** The request to the solver with this number, in the order of numbers. */
export function attemptOf(number: number, result: SolverResult, tookMs = 1): SolverAttempt {
  const request = { solver: solverAddress(number), quoteId: `id-${number}`, index: number - 1 }
  return { ...request, result, tookMs, sentAfterMs: 0 }
}

/** A quote that asked no solver, with changes. */
export function sampleRound(changes: Partial<EndedRound>): EndedRound {
  return {
    quoteId: '7d9a0c1e-1111-4222-8333-944455566677',
    request,
    pair: '',
    requestedAt: 1_799_999_700_000,
    waitedMs: 1.5,
    durationMs: 12.3,
    outcome: 'quoted',
    attempts: [],
    checked: [],
    ...changes,
  }
}
