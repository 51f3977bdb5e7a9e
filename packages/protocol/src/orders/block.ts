import type { Address, Hex } from '../values/hex.js'
import type { OrderEvent } from './event.js'
import type { KnownOrder } from './order.js'

/** Names a block. */
export interface BlockRef {
  readonly number: number
  readonly hash: Hex
}

/** The part of a block's header that orders blocks. */
export interface BlockHeader extends BlockRef {
  readonly parentHash: Hex
}

/** An order event with its block. */
export interface EventWithPosition {
  readonly event: OrderEvent
  readonly blockHash: Hex
  /** The order in the contract, where it was read because the chain has no `Deposited` event of it. */
  readonly order?: KnownOrder
}

/** The position up to which the events of a chain have been read. */
export interface ChainPosition {
  /** The contract that emitted the events. */
  readonly settlement: Address
  /** First block whose events are read. */
  readonly firstBlock: number
  /** The last blocks, the oldest first, each the parent of the next; the last one is the position. */
  readonly headers: readonly [BlockHeader, ...BlockHeader[]]
}

/** Blocks whose events are added to the log. */
export interface NewBlocks {
  /** The headers to keep, in order; the last one becomes the chain's position. */
  readonly headers: readonly [BlockHeader, ...BlockHeader[]]
  /** In the order of the chain. */
  readonly events: readonly EventWithPosition[]
  /** Number of the oldest header to keep. */
  readonly keepFrom: number
}
