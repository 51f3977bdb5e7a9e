import type { Hex } from 'viem'
import type { FillableOrder } from './fillable-order.js'

/** What a log says of a deposit. */
export interface DepositLog {
  readonly transactionHash: Hex
  /** The input of its quote, as the contract's event says it: the state may not have the quote. */
  readonly quotedInput?: bigint
}

/** The deposit of an order that is under way, as it was seen since the start. */
export interface Deposit {
  log?: DepositLog
  /** The transaction that has settled the order, by the contract's event. */
  settledBy?: Hex
  /** The newest block when the market maker was told of it. */
  toldAt?: bigint
  /** Undefined before it was seen, and after a reorganisation has removed it. */
  where: FillableOrder['deposit'] | undefined
  /** How often its payment has reverted. */
  reverts: number
  /** The market maker takes less than was quoted. */
  isAccepted: boolean
  /** The market maker knows of it. */
  isAnnounced: boolean
}

/** The deposits of the orders that are under way. In memory only. */
export type Deposits = ReturnType<typeof createDeposits>

/** A token can let a simulation pass and revert in each block, at the cost of the solver's gas. */
export const MAX_REVERTS = 5

/** What is known of a deposit that has just come, moved or gone. */
const fresh = (where: Deposit['where']) => ({ where, reverts: 0, isAccepted: false, isAnnounced: false })

/** Builds it, without any deposit. */
export function createDeposits() {
  const deposits = new Map<Hex, Deposit>()
  return {
    of(orderId: Hex): Deposit {
      const deposit = deposits.get(orderId) ?? fresh(undefined)
      deposits.set(orderId, deposit)
      return deposit
    },
    /** Whether its payments revert, so that it is not paid any more. */
    hasGivenUp: (orderId: Hex) => (deposits.get(orderId)?.reverts ?? 0) >= MAX_REVERTS,
    forget: (orderId: Hex) => void deposits.delete(orderId),
  }
}

/** It may lie at the address first, and then at the contract, and a reorganisation may remove it: then all begins again. */
export function moveDeposit(deposit: Deposit, where: Deposit['where']): void {
  Object.assign(deposit, fresh(where))
}
