/** An order event as `/v1/ws` sends it (docs/api.md, "Events"). */
export interface OrderEvent {
  readonly type: 'Deposited' | 'Settled' | 'Refunded' | 'Reverted'
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
  readonly event?: OrderEvent['type']
}
