import type { OrderEventType } from '../../../protocol/src/orders/event.js'

/** The state of a chain, as the stream of events and `/health` report it. */
export interface ChainHealth {
  readonly chainId: number
  readonly status: 'ok' | 'syncing' | 'down'
  readonly headBlock?: number
  /** Age of the head block at the time of the report. */
  readonly lagMs?: number
  readonly activeSolvers: number
}

/** A message of `/v1/ws` that reports no order. */
export type NoticeMessage =
  | { readonly type: 'connected'; readonly cursor: string }
  | { readonly type: 'Health'; readonly chains: readonly ChainHealth[]; readonly cursor: string }

/** An order event as `/v1/ws` sends it (docs/api.md, "Events"). */
export interface OrderEvent {
  readonly type: OrderEventType | 'Reverted'
  readonly chainId: number
  readonly orderId: string
  readonly blockNumber: number
  readonly logIndex: number
  readonly cursor: string
  readonly transactionHash?: string
  /** Unix time in seconds. */
  readonly blockTime?: number
  readonly user?: string
  readonly solver?: string
  readonly inputToken?: string
  readonly inputAmount?: string
  readonly outputToken?: string
  readonly outputAmount?: string
  readonly bondSlashed?: string
  /** The type of the event that was removed, of a `Reverted`. */
  readonly event?: OrderEventType
}
