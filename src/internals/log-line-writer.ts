import { type DestinationStream, type Logger, pino } from 'pino'
import { escapeUnprintable } from '../domain/text.js'

/**
 * Builds a writer of frequent lines with the form of the log's other lines. pino's own methods would take 5 % of a read from
 * memory more: 8 % of its CPU time instead of 3 %. It skips pino's serializers and redaction. The symbols are for authors
 * of libraries, by pino's documentation. Checked with pino 10.4.0.
 * @returns a function that takes the fields of a line, as plain JSON values; it does nothing below the log's level
 */
export function createLogLineWriter(
  log: Logger,
  level: 'debug' | 'info',
  message: string,
): (fields: object) => void {
  if (!log.isLevelEnabled(level)) return () => {}
  const { streamSym, timeSym, chindingsSym } = pino.symbols
  const parts = log as unknown as Record<symbol, unknown>
  const stream = parts[streamSym] as DestinationStream
  const time = parts[timeSym] as () => string
  const start = `{"level":${pino.levels.values[level]}`
  const end = `,"msg":${JSON.stringify(message)}}\n`
  const bindings = parts[chindingsSym]
  return (fields) => {
    const json = escapeUnprintable(JSON.stringify(fields))
    stream.write(`${start}${time()}${bindings},${json.slice(1, -1)}${end}`)
  }
}
