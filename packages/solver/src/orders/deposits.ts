import type { Hex } from 'viem'
import type { DepositedOrder } from './order-terms.js'

/** What a log says of a deposit. */
export interface DepositLog {
  readonly transactionHash: Hex
  /** The input of its quote, as the contract's event says it: the state may not have the quote. */
  readonly quotedInput?: bigint
}

/** An order that is under way, as it was seen since the start. */
export interface Deposit {
  /** Its steps, which end with it. */
  running?: Promise<void>
  log?: DepositLog
  /** A log has shown the deposit, and it was not looked at yet. */
  isUnread?: boolean
  /** The transaction that has settled the order, by the contract's event. */
  settledBy?: Hex
  /** The newest block when the market maker was told of it. */
  toldAt?: bigint
  /** Undefined before it was seen, and after a reorganisation has removed it. */
  where: DepositedOrder['deposit'] | undefined
  /** How often its payment has reverted. */
  reverts: number
  /** What the market maker says of its payment: undefined before it is asked, and while it has not answered. */
  word?: 'ASKED' | 'YES' | 'NO' | undefined
  /** The market maker knows of it. */
  isAnnounced: boolean
}

/** The orders that are under way. In memory only. */
export type Deposits = ReturnType<typeof createDeposits>

/** A token can let a simulation pass and revert in each block, at the cost of the solver's gas. */
export const MAX_REVERTS = 5

/** What is known of a deposit that has just come, moved or gone. */
const fresh = (where: Deposit['where']) => ({ where, reverts: 0, word: undefined, isAnnounced: false })

/** Builds it, without any order. */
export function createDeposits() {
  const deposits = new Map<Hex, Deposit>()
  return {
    of(orderId: Hex): Deposit {
      const deposit = deposits.get(orderId) ?? fresh(undefined)
      deposits.set(orderId, deposit)
      return deposit
    },
    get: (orderId: Hex) => deposits.get(orderId),
    /** Whether it is not paid any more: its payments revert, or the market maker does not want it. */
    hasGivenUp(orderId: Hex): boolean {
      const deposit = deposits.get(orderId)
      return deposit !== undefined && (deposit.reverts >= MAX_REVERTS || deposit.word === 'NO')
    },
    forget: (orderId: Hex) => void deposits.delete(orderId),
    all: (): readonly Deposit[] => [...deposits.values()],
  }
}

/** It may lie at the address first, and then at the contract, and a reorganisation may remove it: then all begins again. */
export function moveDeposit(deposit: Deposit, where: Deposit['where']): void {
  Object.assign(deposit, fresh(where))
}
