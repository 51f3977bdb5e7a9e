import type { EventMessage, StreamMessage } from '../support/streams/event-messages.js'
import { standing } from '../support/streams/event-messages.js'

/** How the events of a subscriber differ from those of the chain. */
export interface Verdict {
  /** Events on the chain that the subscriber does not have. */
  readonly lost: number
  /** Events that the subscriber has more often than the chain. */
  readonly doubled: number
  /** 1 when an event was removed that was not the latest. */
  readonly misordered: number
  /** Events that came after events of later blocks, because a node omitted them at first. */
  readonly late: number
}

/** Compares what one subscriber got over all its streams with the last state of the chain. */
export function judge(received: readonly StreamMessage[], expected: readonly EventMessage[]): Verdict {
  let left: EventMessage[]
  try {
    left = standing(received)
  } catch {
    return { lost: 0, doubled: 0, misordered: 1, late: 0 }
  }
  const wanted = countsOf(expected)
  const got = countsOf(left)
  const missing = (from: Map<string, number>, of: Map<string, number>) =>
    [...from].reduce((sum, [key, count]) => sum + Math.max(0, count - (of.get(key) ?? 0)), 0)
  const lost = missing(wanted, got)
  const doubled = missing(got, wanted)
  return { lost, doubled, misordered: 0, late: countLate(left) }
}

function countLate(events: readonly EventMessage[]): number {
  let highest = 0
  let late = 0
  for (const { blockNumber } of events) {
    if (blockNumber < highest) late++
    highest = Math.max(highest, blockNumber)
  }
  return late
}

function countsOf(events: readonly EventMessage[]): Map<string, number> {
  const counts = new Map<string, number>()
  for (const event of events) counts.set(keyOf(event), (counts.get(keyOf(event)) ?? 0) + 1)
  return counts
}

function keyOf({ chainId, orderId, type, blockNumber }: EventMessage): string {
  return `${chainId} ${orderId} ${type} ${blockNumber}`
}
