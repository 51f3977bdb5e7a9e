import { createClient } from '@connectrpc/connect'
import { createGrpcTransport } from '@connectrpc/connect-node'
import { EventService } from '../../gen/aggregator/v1/event_pb.js'
import type { Address, Hex } from '../domain/hex.js'
import { followAny } from './follow-any.js'

interface OrderFeedOptions {
  /** The base URLs of the replicas. When one is lost, the next one is used. */
  readonly serviceUrls: readonly string[]
  readonly chainId: number
  readonly solver: Address
  /** Called with the id of every order deposited for the solver, one after the other. */
  readonly onDeposit: (orderId: Hex) => Promise<void>
  readonly onError: (error: unknown) => void
}

/**
 * Follows the service's event stream over gRPC. After a break it continues from its cursor, which every
 * replica understands.
 * @returns, when the stream is open, a function that ends it
 */
export function followOrders(options: OrderFeedOptions): Promise<() => Promise<void>> {
  const { serviceUrls, chainId, solver, onDeposit, onError } = options
  let after: string | undefined

  async function follow(url: string, signal: AbortSignal, onOpen: () => void): Promise<void> {
    const client = createClient(EventService, createGrpcTransport({ baseUrl: url }))
    const filter = { after, chainId: [BigInt(chainId)], solver: [solver] }
    for await (const { event, cursor } of client.streamEvents(filter, { signal })) {
      if (event.case === 'connected') onOpen()
      if (event.case === 'deposited') await onDeposit(event.value.orderId as Hex)
      after = cursor
    }
  }

  return followAny({ urls: serviceUrls, follow, onError })
}
