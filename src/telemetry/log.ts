import { writeSync } from 'node:fs'
import { type DestinationStream, type Logger, pino } from 'pino'
import { escapeUnprintable } from '../../packages/protocol/src/values/text.js'
import type { LogLevel } from '../config/config.js'

export type { Logger }

type Stream = ReturnType<typeof pino.destination>

/** How long a line may wait until it is written with others. */
const FLUSH_MS = 100
const FLUSH_BYTES = 15 * 1024
/** What may wait for a log that is full or not read: about 5,000 lines. Later lines are dropped. */
const WAITING_BYTES = 1024 * 1024
/** How long the end of the process waits for a reader that has stalled. */
const PATIENCE_MS = 1000

/** Builds a log with one JSON object per line. It escapes foreign text, so that it cannot control a terminal that shows the log. */
export function createLog(level: LogLevel, destination: DestinationStream = pino.destination()): Logger {
  const hooks = { streamWrite: escapeUnprintable }
  return pino({ level, base: null, timestamp: pino.stdTimeFunctions.isoTime, hooks }, destination)
}

/** Escapes in JSON text. The group matches those that control a terminal, without line feeds and tabs of stack traces. */
const ESCAPES = /\\\\|(\\u[0-9a-f]{4}|\\[bfr])/gi

/** Formats lines for people at a terminal. Escapes stay visible, so that foreign text cannot control the terminal. */
export async function createPrettyStream(
  terminal: DestinationStream = pino.destination(1),
): Promise<DestinationStream> {
  const { isColorSupported, prettyFactory } = await import('pino-pretty')
  const prettify = prettyFactory({ translateTime: 'SYS:HH:MM:ss.l', colorize: isColorSupported })
  const showEscapes = (text: string) => text.replace(ESCAPES, (all, shown) => (shown ? `\\${shown}` : all))
  return { write: (text) => terminal.write(prettify(showEscapes(text))) }
}

/**
 * Opens the log of a process on standard output: JSON, or lines for people when that is a terminal. JSON lines are written
 * several at once, the last ones when the process exits. The process goes on when they cannot be written.
 */
export async function openProcessLog(level: LogLevel): Promise<Logger> {
  if (process.stdout.isTTY) return createLog(level, await createPrettyStream())
  const stream = createBufferedStream()
  const log = createLog(level, stream)
  reportFailures(stream)
  reportDroppedLines(stream, log)
  return log
}

/**
 * Keeps lines that cannot be written, and tries again every FLUSH_MS. At an error, sonic-boom keeps the rest of the line that it
 * has begun.
 */
function createBufferedStream(): Stream {
  let patienceMs = PATIENCE_MS
  let giveUpMs = Number.POSITIVE_INFINITY
  const stream = pino.destination({
    dest: 1,
    sync: false,
    minLength: FLUSH_BYTES,
    maxLength: WAITING_BYTES,
    periodicFlush: FLUSH_MS,
    retryEAGAIN: () => performance.now() < giveUpMs,
  })
  const flush = stream.flushSync.bind(stream)
  // pino calls it after a fatal line, and when the process exits.
  stream.flushSync = () => {
    giveUpMs = performance.now() + patienceMs
    try {
      flush()
    } catch {
      // Without a reader of the log, the process must end all the same, and wait for the reader once only.
      patienceMs = 0
    }
    giveUpMs = Number.POSITIVE_INFINITY
  }
  return stream
}

/** Says on standard error that the log cannot be written, once until it is written again. */
function reportFailures(stream: Stream): void {
  let isFailing = false
  stream.on('error', ({ message }: Error) => {
    if (!isFailing) writeError(`The log cannot be written: ${message}. The service goes on without it.\n`)
    isFailing = true
  })
  stream.on('drain', () => {
    isFailing = false
  })
}

/** Unlike `process.stderr`, it does not fail later: standard error may have the same full disk or lost reader as the log. */
function writeError(text: string): void {
  try {
    writeSync(2, text)
  } catch {
    // Nobody can be told.
  }
}

/** Counts the lines that did not fit, and logs their number once lines are written again. */
function reportDroppedLines(stream: Stream, log: Logger): void {
  let dropped = 0
  stream.on('drop', () => {
    dropped++
  })
  stream.on('drain', () => {
    if (dropped === 0) return
    const fields = { dropped }
    dropped = 0
    log.warn(fields, 'lines of the log were dropped, because they could not be written')
  })
}
