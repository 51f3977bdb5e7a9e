import type { Clock, Timer } from '../../packages/protocol/src/clock.js'
import { toServiceError } from '../../packages/protocol/src/errors.js'
import type { Logger } from '../telemetry/log.js'
import type { Metrics } from '../telemetry/metrics.js'

interface WriteBehindOptions<Row> {
  /** Rows that the database refuses are dropped; those that it could not be reached for wait again. */
  readonly save: (rows: readonly Row[]) => Promise<void>
  /** Rows of one write. */
  readonly maxBatch: number
  /** The rows, for the log. */
  readonly what: string
  /** Counts the rows by result. */
  readonly counter: Metrics['quoteRecords']
  /** Called once after each run of writes. */
  readonly onWritten?: () => void
  readonly clock: Clock
  readonly log: Logger
}

/** How long rows wait, so that several are written together. */
const WAIT_MS = 1000
/** Rows that may wait. More are dropped, when the database is slower than the quotes. */
const MAX_WAITING = 10_000

/** Builds what writes rows behind the work that makes them, several at once. Writes run one after the other. */
export function createWriteBehind<Row>(options: WriteBehindOptions<Row>) {
  const { save, maxBatch, what, counter, onWritten = () => {}, clock, log } = options
  let waiting: Row[] = []
  /** The rows that are being written. */
  let batch: readonly Row[] = []
  let timer: Timer | undefined
  let writing: Promise<boolean> = Promise.resolve(true)
  /** Rows of the run under way. */
  let written = 0
  let isClosed = false
  // The series must exist before the first dropped row, so that its rate is visible from then on.
  for (const result of ['written', 'dropped']) counter.inc({ result }, 0)

  /** @param error undefined for a row that came while too many waited */
  function drop(rows: number, error?: unknown): void {
    counter.inc({ result: 'dropped' }, rows)
    if (error !== undefined) log.error({ err: error, rows }, `${what} could not be written`)
  }

  async function writeBatch(): Promise<boolean> {
    batch = waiting.slice(0, maxBatch)
    waiting = waiting.slice(maxBatch)
    let isConnectionError = false
    try {
      await save(batch)
      written += batch.length
    } catch (error) {
      isConnectionError = toServiceError(error).reason === 'DATABASE_UNAVAILABLE'
      if (isConnectionError) waiting = [...batch, ...waiting]
      else drop(batch.length, error)
    }
    batch = []
    return !isConnectionError
  }

  /** Writes the rows that wait now. Those that come meanwhile do not prolong it. */
  async function writeWaiting(): Promise<boolean> {
    for (let left = waiting.length; left > 0; left -= maxBatch) if (!(await writeBatch())) return false
    return true
  }

  function run(): Promise<boolean> {
    writing = writing.then(async () => {
      const isReachable = await writeWaiting()
      counter.inc({ result: 'written' }, written)
      if (written > 0) onWritten()
      written = 0
      return isReachable
    })
    return writing
  }

  function writeSoon(): void {
    timer = clock.setTimeout(async () => {
      await run()
      timer = undefined
      if (waiting.length > 0 && !isClosed) writeSoon()
    }, WAIT_MS)
  }

  return {
    /** Has a row written soon. It costs a push to an array. A row too many is dropped. */
    add(row: Row) {
      if (isClosed || waiting.length >= MAX_WAITING) return drop(1)
      waiting.push(row)
      if (timer === undefined) writeSoon()
    },
    /** The rows that are not written yet. */
    waiting: (): readonly Row[] => [...batch, ...waiting],
    /** Writes all rows that wait. @returns whether the database could be reached */
    flush: run,
    /** Writes the rows that wait. Later ones are dropped. */
    async close(): Promise<void> {
      isClosed = true
      timer?.stop()
      if (await run()) return
      drop(waiting.length, new Error('the database cannot be reached'))
      waiting = []
    },
  }
}
