import type { OrderEvent } from './stream-messages.js'

const MAX_ENTRIES = 200

/** Adds an event at the top of the list of events. One that says that a reorganisation has removed another takes its place. */
export function addEvent(latestEvents: readonly OrderEvent[], event: OrderEvent): readonly OrderEvent[] {
  const isRemoval = event.type === 'Reverted'
  const key = keyOf(isRemoval ? { ...event, type: event.event ?? 'Deposited' } : event)
  const others = latestEvents.filter((each) => keyOf(each) !== key)
  // After a reconnection, an event may come twice.
  return !isRemoval && others.length < latestEvents.length
    ? latestEvents
    : [event, ...others].slice(0, MAX_ENTRIES)
}

/** An event that comes back in another block is another event. */
function keyOf({ type, chainId, orderId, blockNumber, transactionHash }: OrderEvent): string {
  return [type, chainId, orderId, blockNumber, transactionHash].join(' ')
}
