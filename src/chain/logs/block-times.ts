import { InconsistentAnswerError, type TimedHeader } from '../../../packages/protocol/src/parse-blocks.js'
import { UNKNOWN_TIME } from '../../../packages/protocol/src/settlement.js'
import type { EventWithPosition } from '../../domain/orders/block.js'

/**
 * Adds the times of their blocks to the events of a range. Newer nodes send the time with each log. Some send zero, or
 * another unit. So times that contradict a known header are not used, and this reads one header for each block with events.
 * @param known headers of the range, with that of its last block
 * @throws InconsistentAnswerError when a block has left the chain; otherwise the errors of `readHeader`
 */
export async function addBlockTimes(
  events: readonly EventWithPosition[],
  known: readonly TimedHeader[],
  readHeader: (number: number) => Promise<TimedHeader>,
): Promise<EventWithPosition[]> {
  const areTrusted = agreeWith(known)
  const missing = events.every(areTrusted)
    ? events.filter(({ event }) => event.blockTime === UNKNOWN_TIME)
    : events
  const headers = new Map(known.map((header) => [header.number, header]))
  const numbers = [...new Set(missing.map(({ event }) => event.blockNumber))].filter(
    (number) => !headers.has(number),
  )
  for (const header of await Promise.all(numbers.map(readHeader))) headers.set(header.number, header)
  return events.map((source) => {
    const header = headers.get(source.event.blockNumber)
    if (header === undefined) return source
    if (header.hash === source.blockHash) return withTime(source, header)
    throw new InconsistentAnswerError(`block ${header.number} has left the chain during the read`)
  })
}

/** Whether the time of an event can be true, if it has one: that of its header, or between zero and the last header's. */
function agreeWith(known: readonly TimedHeader[]): (source: EventWithPosition) => boolean {
  const times = new Map(known.map(({ number, timestampMs }) => [number, timestampMs / 1000]))
  const last = Math.max(...times.values())
  return ({ event: { blockNumber, blockTime } }) =>
    blockTime === UNKNOWN_TIME ||
    (blockTime > 0 && blockTime <= last && (times.get(blockNumber) ?? blockTime) === blockTime)
}

/** An event with the time of its block. */
export function withTime(source: EventWithPosition, { timestampMs }: TimedHeader): EventWithPosition {
  return { ...source, event: { ...source.event, blockTime: timestampMs / 1000 } }
}
