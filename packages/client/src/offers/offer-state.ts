import { findView, readNewestBlock, readView } from '../../../protocol/src/node/read-view.js'
import type { DepositMode, Quote } from '../../../protocol/src/quotes/quote.js'
import * as contract from '../../../protocol/src/settlement/settlement-of-chain.js'
import { bondFor, freeBondOf } from '../../../protocol/src/solvers/solver.js'
import { problemsIn } from './offer-limits.js'
import type { SettlementTerms } from './settlement-terms.js'

/** A problem of an offer in the contract's state (docs/decisions.md, D13). */
export type StateProblem =
  | 'deposit_deadline_too_near'
  | 'solver_not_registered'
  | 'bond_too_small'
  | 'below_minimum_order'
  | 'nonce_used'

/** The least time until the deposit deadline, in seconds: a contract refuses what comes later, and may keep a late transfer for good. */
export const SPARE_SECONDS: Readonly<Record<DepositMode, number>> = { CONTRACT: 15, ADDRESS: 120 }

/**
 * Checks an offer against the contract's state in the node's latest block. The reads go out together: a viem client that
 * batches makes one request of them.
 * @param now the clock, Unix time in seconds
 * @throws ChainReadError when the node does not answer, whatever it says in its place
 */
export async function findStateProblems(
  { solver, nonce, outputAmount, depositDeadline }: Quote,
  { client: { request }, chainId, settlement }: SettlementTerms,
  minSecondsLeft: number,
  now: number,
): Promise<StateProblem[]> {
  const [{ time }, bond, isNonceUsed, reservationBps = 0n, minimum = 0n] = await Promise.all([
    readNewestBlock(request, chainId),
    readView(request, settlement, contract.bond(solver)),
    readView(request, settlement, contract.nonceUse(solver, nonce)),
    findView(request, settlement, contract.bondReservationBps()),
    findView(request, settlement, contract.minOrder()),
  ])
  return problemsIn({
    deposit_deadline_too_near: !(depositDeadline - Math.max(time, now) >= minSecondsLeft),
    solver_not_registered: !bond.registered,
    bond_too_small: bondFor(outputAmount, reservationBps) > freeBondOf(bond),
    below_minimum_order: outputAmount < minimum,
    nonce_used: isNonceUsed,
  })
}
