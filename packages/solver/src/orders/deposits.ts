import type { Hex } from 'viem'
import type { FillableOrder } from './fillable-order.js'

/** What a log says of a deposit. */
export interface DepositLog {
  readonly transactionHash: Hex
  /** The input of its quote, as the contract's event says it: the state may not have the quote. */
  readonly quotedInput?: bigint
}

/** The deposits of the orders that are under way, as they were seen since the start. In memory only. */
export type Deposits = ReturnType<typeof createDeposits>

interface Deposit {
  readonly log?: DepositLog | undefined
  /** Undefined before it was seen, and after a reorganisation has removed it. */
  readonly where?: FillableOrder['deposit'] | undefined
  /** How often its payment has reverted. */
  readonly reverts?: number
  /** The market maker takes less than was quoted. */
  readonly isAccepted?: boolean
  /** The market maker knows of it. */
  readonly isAnnounced?: boolean
}

/** A token can let a simulation pass and revert in each block, at the cost of the solver's gas. */
export const MAX_REVERTS = 5

/** Builds it, without any deposit. */
export function createDeposits() {
  const deposits = new Map<Hex, Deposit>()
  const change = (orderId: Hex, next: Deposit) =>
    void deposits.set(orderId, { ...deposits.get(orderId), ...next })

  return {
    where: (orderId: Hex) => deposits.get(orderId)?.where,
    log: (orderId: Hex) => deposits.get(orderId)?.log,
    setLog: (orderId: Hex, log: DepositLog) => change(orderId, { log }),
    /** It may lie at the address first, and then at the contract: then all begins again. */
    found: (orderId: Hex, where: FillableOrder['deposit']) =>
      change(orderId, { where, reverts: 0, isAccepted: false, isAnnounced: false }),
    /** A reorganisation has removed it. */
    removed: (orderId: Hex) => change(orderId, { where: undefined, reverts: 0, isAnnounced: false }),
    /** @returns whether the market maker is to be told now: once for each deposit */
    announce(orderId: Hex): boolean {
      const known = deposits.get(orderId)
      if (known?.where === undefined || known.isAnnounced) return false
      change(orderId, { isAnnounced: true })
      return true
    },
    accept: (orderId: Hex) => change(orderId, { isAccepted: true }),
    isAccepted: (orderId: Hex) => deposits.get(orderId)?.isAccepted === true,
    reverted: (orderId: Hex) => change(orderId, { reverts: (deposits.get(orderId)?.reverts ?? 0) + 1 }),
    /** Whether it is not paid for any more, since the payments revert. */
    hasGivenUp: (orderId: Hex) => (deposits.get(orderId)?.reverts ?? 0) >= MAX_REVERTS,
    forget: (orderId: Hex) => void deposits.delete(orderId),
  }
}
