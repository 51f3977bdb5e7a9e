import type { EventWithPosition } from '../domain/block.js'
import type { TimedHeader } from './headers.js'
import { InconsistentAnswerError } from './inconsistent-answer.js'

/**
 * Adds the times of their blocks to events. Newer nodes send the time with each log. For others, this reads one header for
 * each block with events.
 * @throws InconsistentAnswerError when a block has left the chain; otherwise the errors of `readHeader`
 */
export async function addBlockTimes(
  events: readonly EventWithPosition[],
  readHeader: (number: number) => Promise<TimedHeader>,
): Promise<EventWithPosition[]> {
  const missing = events.filter(({ event }) => event.blockTime === undefined)
  const numbers = [...new Set(missing.map(({ event }) => event.blockNumber))]
  const headers = new Map(
    (await Promise.all(numbers.map(readHeader))).map((header) => [header.number, header]),
  )
  return events.map((source) => {
    const header = headers.get(source.event.blockNumber)
    if (header === undefined) return source
    if (header.hash === source.blockHash) return withTime(source, header)
    throw new InconsistentAnswerError(`block ${header.number} has left the chain during the read`)
  })
}

/** An event with the time of its block. */
export function withTime(source: EventWithPosition, { timestampMs }: TimedHeader): EventWithPosition {
  return { ...source, event: { ...source.event, blockTime: timestampMs / 1000 } }
}
