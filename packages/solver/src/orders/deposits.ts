import type { Hex } from 'viem'
import type { DepositedOrder } from './order-terms.js'

/** Where a deposit is. */
export type Place = DepositedOrder['deposit']

/** An order that is under way, as it was seen since the start. In memory only. */
export interface Deposit {
  /** Its steps, which end with it. */
  running?: Promise<void>
  /** It was looked at. */
  isSeen: boolean
  /** Of the log that has shown it. */
  transactionHash?: Hex
  /** The input of its quote, as the contract's event says it: the state may not have the quote. */
  quotedInput?: bigint
  /** The transaction that has settled the order, by the contract's event. */
  settledBy?: Hex
  /** Undefined before it was seen, and after a reorganisation has removed it. */
  place?: Place | undefined
  /** What has arrived there, in the token's smallest unit. */
  inputAmount?: bigint | undefined
  /** What the market maker was told of it, and the newest block at that time. */
  told?: { readonly place: Place; readonly inputAmount: bigint; readonly blockNumber: bigint } | undefined
  /** How often its payment has reverted there. */
  reverts: number
  /** What the market maker says of the payment of this deposit, once it is asked: undefined while it has not answered. */
  asked?: { word?: 'YES' | 'NO' } | undefined
}

/** A token can let a simulation pass and revert in each block, at the cost of the solver's gas. */
export const MAX_REVERTS = 5

/** Whether an order is not paid any more: its payments revert, or the market maker does not want it. */
export const isGivenUp = (deposit: Deposit | undefined) =>
  deposit !== undefined && (deposit.reverts >= MAX_REVERTS || deposit.asked?.word === 'NO')
