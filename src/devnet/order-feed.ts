import { setTimeout as delay } from 'node:timers/promises'
import { createClient } from '@connectrpc/connect'
import { createGrpcTransport } from '@connectrpc/connect-node'
import { EventService } from '../../gen/aggregator/v1/event_pb.js'
import type { Address, Hex } from '../domain/hex.js'

interface OrderFeedOptions {
  readonly serviceUrl: string
  readonly chainId: number
  readonly solver: Address
  /** Called with the id of every order deposited for the solver, one after the other. */
  readonly onDeposit: (orderId: Hex) => Promise<void>
  readonly onError: (error: unknown) => void
}

const COME_BACK_MS = 500

/**
 * Follows the service's event stream over gRPC. A stream that breaks is taken up again where it was, by its cursor.
 * @returns once the stream is open, what ends it
 */
export async function followOrders(options: OrderFeedOptions): Promise<() => Promise<void>> {
  const { serviceUrl, chainId, solver, onDeposit, onError } = options
  const client = createClient(EventService, createGrpcTransport({ baseUrl: serviceUrl }))
  const closing = new AbortController()
  let after: string | undefined

  async function follow(onOpen: () => void): Promise<void> {
    const filter = { after, chainId: [BigInt(chainId)], solver: [solver] }
    for await (const { event, cursor } of client.streamEvents(filter, { signal: closing.signal })) {
      if (event.case === 'connected') onOpen()
      if (event.case === 'deposited') await onDeposit(event.value.orderId as Hex)
      after = cursor
    }
  }

  async function keepFollowing(onOpen: () => void): Promise<void> {
    while (!closing.signal.aborted) {
      await follow(onOpen).catch((error) => {
        if (!closing.signal.aborted) onError(error)
      })
      await delay(COME_BACK_MS, undefined, { signal: closing.signal }).catch(() => {})
    }
  }

  let ended: Promise<void> = Promise.resolve()
  await new Promise<void>((resolve) => {
    ended = keepFollowing(resolve)
  })
  return async () => {
    closing.abort()
    await ended
  }
}
