import { type DestinationStream, type Logger, pino } from 'pino'
import { escapeUnprintable } from '../domain/text.js'

export type { Logger }

/** The levels that LOG_LEVEL takes. */
export const LOG_LEVELS = ['trace', 'debug', 'info', 'warn', 'error', 'fatal', 'silent'] as const

export type LogLevel = (typeof LOG_LEVELS)[number]

type Stream = ReturnType<typeof pino.destination>

/** How long a line may wait until it is written with others. */
const FLUSH_MS = 100
const FLUSH_BYTES = 15 * 1024

/** Builds a log with one JSON object per line. It escapes foreign text, so that it cannot control a terminal that shows the log. */
export function createLog(level: LogLevel, destination: DestinationStream = pino.destination()): Logger {
  const hooks = { streamWrite: escapeUnprintable }
  return pino({ level, base: null, timestamp: createTimeText(), hooks }, destination)
}

/** Writes the time in ISO 8601. It keeps the last text, as many lines have the same millisecond. */
function createTimeText(): () => string {
  let lastMs = 0
  let text = ''
  return () => {
    const nowMs = Date.now()
    if (nowMs !== lastMs) text = `,"time":"${new Date(nowMs).toISOString()}"`
    lastMs = nowMs
    return text
  }
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
 * several at once, the last ones when the process exits.
 */
export async function openProcessLog(level: LogLevel): Promise<Logger> {
  if (process.stdout.isTTY) return createLog(level, await createPrettyStream())
  return createLog(level, createBufferedStream())
}

/**
 * Collects lines as bytes. As text, sonic-boom measures and copies all waiting lines again for each new one. Its types do not
 * know that it takes bytes.
 */
function createBufferedStream(): DestinationStream & Pick<Stream, 'flushSync'> {
  const stream: Stream = pino.destination({
    dest: 1,
    sync: false,
    minLength: FLUSH_BYTES,
    periodicFlush: FLUSH_MS,
    contentMode: 'buffer',
  })
  const flush = stream.flushSync.bind(stream)
  // pino calls it after a fatal line, and when the process exits.
  stream.flushSync = () => {
    try {
      flush()
    } catch {
      // Without a reader of the log, the process must end all the same. sonic-boom 4 repeats such a write without an end.
    }
  }
  const bytes = stream as unknown as { write(bytes: Buffer): boolean }
  return {
    write: (line) => void bytes.write(Buffer.from(line)),
    flushSync: () => stream.flushSync(),
  }
}
