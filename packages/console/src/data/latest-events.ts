import type { OrderEvent } from './stream-messages.js'

/** A line of the list of events: an event that stands, or one that a reorganisation has removed. */
export interface ShownEvent {
  readonly key: string
  readonly event: OrderEvent
  /** When the console got it, Unix time in milliseconds; undefined for one from before. */
  readonly seenAt: number | undefined
  /** When the console learned of its removal, Unix time in milliseconds; undefined while it stands. */
  readonly removedAt: number | undefined
}

const MAX_ENTRIES = 200

/** Adds an event at the top of the list of events. One that removes another marks that one, which stays where it is. */
export function addEvent(
  latestEvents: readonly ShownEvent[],
  event: OrderEvent,
  seenAt: number | undefined,
): ShownEvent[] {
  const removed =
    event.type === 'Reverted' ? keyOf({ ...event, type: event.event ?? 'Deposited' }) : undefined
  if (removed !== undefined) {
    const index = latestEvents.findIndex(({ key, removedAt }) => key === removed && removedAt === undefined)
    if (index >= 0)
      return latestEvents.map((entry, at) => (at === index ? { ...entry, removedAt: seenAt } : entry))
    const original = { ...event, type: event.event ?? 'Deposited' }
    return [{ key: removed, event: original, seenAt: undefined, removedAt: seenAt }, ...latestEvents].slice(
      0,
      MAX_ENTRIES,
    )
  }
  const key = keyOf(event)
  // After a reconnection, and from the list of orders, an event may come twice.
  if (latestEvents.some((entry) => entry.key === key && entry.removedAt === undefined))
    return [...latestEvents]
  return [{ key, event, seenAt, removedAt: undefined }, ...latestEvents].slice(0, MAX_ENTRIES)
}

/** An event that comes back in another block is another event. */
function keyOf({ type, chainId, orderId, blockNumber, transactionHash }: OrderEvent): string {
  return [type, chainId, orderId, blockNumber, transactionHash].join(' ')
}
