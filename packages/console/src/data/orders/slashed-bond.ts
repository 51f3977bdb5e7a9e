import { EventType } from '../../../../../gen/aggregator/v1/event_pb.js'
import { eventService } from '../api.js'

/** How long the log may take to bring a refund that it has. */
const LOG_MS = 10_000

/**
 * Reads from the log of events what the refund of an order has paid of the solver's bond, in the bond token's smallest unit.
 * @throws when the log has the refund no more
 */
export async function readSlashedBond(
  chainId: bigint,
  orderId: string,
  signal: AbortSignal,
): Promise<bigint> {
  const request = { chainId: [chainId], orderId: [orderId], type: [EventType.REFUNDED], after: 'earliest' }
  const ending = AbortSignal.any([signal, AbortSignal.timeout(LOG_MS)])
  for await (const { event } of eventService.streamEvents(request, { signal: ending }))
    if (event.case === 'refunded') return BigInt(event.value.bondSlashed)
  throw new Error('The log has no refund of this order.')
}
