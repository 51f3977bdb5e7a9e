import { findView, readView } from '../../../protocol/src/node/read-view.js'
import type { Quote } from '../../../protocol/src/quotes/quote.js'
import { bondFor } from '../../../protocol/src/settlement/settlement.js'
import * as contract from '../../../protocol/src/settlement/settlement-of-chain.js'
import { freeBondOf } from '../../../protocol/src/solvers/solver.js'
import type { SettlementTerms } from './settlement-terms.js'

/** A problem of an offer in the contract's state (docs/decisions.md, D13). */
export type StateProblem = 'solver_not_registered' | 'bond_too_small' | 'below_minimum_order' | 'nonce_used'

/**
 * Checks an offer against the contract's state in the node's latest block. The reads go out together: a viem client that
 * batches makes one request of them.
 * @throws ChainReadError when the node does not answer, whatever it says in its place
 */
export async function findStateProblems(
  { solver, nonce, outputAmount }: Quote,
  { client: { request }, settlement }: SettlementTerms,
): Promise<StateProblem[]> {
  const [bond, isNonceUsed, reservationBps = 0n, minimum = 0n] = await Promise.all([
    readView(request, settlement, contract.bond(solver)),
    readView(request, settlement, contract.nonceUse(solver, nonce)),
    findView(request, settlement, contract.bondReservationBps()),
    findView(request, settlement, contract.minOrder()),
  ])
  return problemsIn([
    [!bond.registered, 'solver_not_registered'],
    [bondFor(outputAmount, reservationBps) > freeBondOf(bond), 'bond_too_small'],
    [outputAmount < minimum, 'below_minimum_order'],
    [isNonceUsed, 'nonce_used'],
  ])
}

/** The problems that there are. */
export function problemsIn<P>(checks: readonly (readonly [boolean, P])[]): P[] {
  return checks.flatMap(([isThere, problem]) => (isThere ? [problem] : []))
}
