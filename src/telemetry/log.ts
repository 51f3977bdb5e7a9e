import { type DestinationStream, type Logger, pino } from 'pino'

export type { Logger }

/** The levels that LOG_LEVEL takes. */
export const LOG_LEVELS = ['trace', 'debug', 'info', 'warn', 'error', 'fatal', 'silent'] as const

export type LogLevel = (typeof LOG_LEVELS)[number]

/** How long a line may wait to be written with others. */
const FLUSH_MS = 100
const FLUSH_BYTES = 4096

/** A log of one JSON object a line. */
export function createLog(level: LogLevel, destination: DestinationStream = pino.destination()): Logger {
  return pino({ level, base: null, timestamp: pino.stdTimeFunctions.isoTime }, destination)
}

/**
 * The log of a process, on standard output: JSON, or lines for people where that is a terminal. Lines are written a
 * few at once, the last ones when the process exits.
 */
export async function openProcessLog(level: LogLevel): Promise<Logger> {
  if (process.stdout.isTTY) {
    const { default: pretty } = await import('pino-pretty')
    return createLog(level, pretty({ translateTime: 'SYS:HH:MM:ss.l' }))
  }
  const buffered = { dest: 1, sync: false, minLength: FLUSH_BYTES, periodicFlush: FLUSH_MS }
  return createLog(level, pino.destination(buffered))
}
