import type { Client } from 'viem'
import { readContract } from 'viem/actions'
import type { Quote } from '../../../src/domain/quote.js'
import { bondFor } from '../../../src/domain/settlement-terms.js'
import { freeBondOf } from '../../../src/domain/solver.js'
import { hasNoSuchFunction } from './contract-errors.js'
import type { SettlementTerms } from './settlement.js'
import { stateAbi } from './settlement-abi.js'

/** A problem of an offer in the contract's state (docs/decisions.md, D13). */
export type StateProblem = 'solver_not_registered' | 'bond_too_small' | 'below_minimum_order' | 'nonce_used'

/** The state of the contract that an offer depends on. Amounts in the token's smallest unit. */
interface OfferState {
  readonly isRegistered: boolean
  /** The solver's bond less the parts that orders reserve and that it is unstaking. */
  readonly freeBond: bigint
  /** The part of the output that an order reserves, in hundredths of a percent; undefined where the contract has no such view. */
  readonly bondReservationBps: bigint | undefined
  /** The least output; undefined where the contract has no such view. */
  readonly minOrder: bigint | undefined
  readonly isNonceUsed: boolean
}

/**
 * Checks an offer against the contract's state in the node's latest block. The reads go out together: a viem client that
 * batches makes one request of them.
 * @throws viem's errors when the node does not answer
 */
export async function findStateProblems(quote: Quote, terms: SettlementTerms): Promise<StateProblem[]> {
  const state = await readOfferState(quote, terms)
  const { bondReservationBps = 0n, minOrder = 0n } = state
  const problems: StateProblem[] = []
  if (!state.isRegistered) problems.push('solver_not_registered')
  if (bondFor(quote.outputAmount, bondReservationBps) > state.freeBond) problems.push('bond_too_small')
  if (quote.outputAmount < minOrder) problems.push('below_minimum_order')
  if (state.isNonceUsed) problems.push('nonce_used')
  return problems
}

async function readOfferState(
  { solver, nonce }: Quote,
  { client, settlement }: SettlementTerms,
): Promise<OfferState> {
  const contract = { address: settlement, abi: stateAbi } as const
  const [solverState, isNonceUsed, bondReservationBps, minOrder] = await Promise.all([
    readContract(client, { ...contract, functionName: 'solvers', args: [solver] }),
    readContract(client, { ...contract, functionName: 'isNonceUsed', args: [solver, nonce] }),
    readOptionalView(client, { ...contract, functionName: 'BOND_RESERVATION_BPS' }),
    readOptionalView(client, { ...contract, functionName: 'MIN_ORDER' }),
  ])
  const [total, reserved, unstaking, , registered] = solverState
  const freeBond = freeBondOf({ registered, total, reserved, unstaking })
  return { isRegistered: registered, freeBond, bondReservationBps, minOrder, isNonceUsed }
}

interface OptionalView {
  readonly address: SettlementTerms['settlement']
  readonly abi: typeof stateAbi
  readonly functionName: 'BOND_RESERVATION_BPS' | 'MIN_ORDER'
}

async function readOptionalView(client: Client, view: OptionalView): Promise<bigint | undefined> {
  try {
    return await readContract(client, view)
  } catch (error) {
    if (hasNoSuchFunction(error)) return undefined
    throw error
  }
}
