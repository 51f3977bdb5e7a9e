import { toServiceError } from '../domain/errors.js'
import type { QuoteRecordStore, StoredQuoteRecord } from '../store/quote-record-store.js'
import type { Logger } from '../telemetry/log.js'
import type { Metrics } from '../telemetry/metrics.js'
import { type QuoteTrace, toQuoteRecord } from './quote-trace.js'

/** Writes the records of quotes, several at once. */
export interface QuoteRecordWriter {
  /** Builds the record of a quote, and writes it later. */
  add(trace: QuoteTrace): void
  /** A record that is not written yet. */
  find(quoteId: string): StoredQuoteRecord | undefined
  /** The records that are not written yet. */
  waiting(): readonly StoredQuoteRecord[]
  /** Writes the records that wait. Later ones are dropped, and the store is no longer used. */
  close(): Promise<void>
}

interface QuoteRecordWriterOptions {
  readonly store: Pick<QuoteRecordStore, 'save'>
  /** Called when records were written. */
  readonly onWritten: () => void
  readonly metrics: Pick<Metrics, 'quoteRecords'>
  readonly log: Logger
}

/** How long records wait, so that several are written together. */
const WAIT_MS = 1000
/** Records in one write. */
const MAX_BATCH = 50
/** Records that may wait. More are dropped, when the database is slower than the quotes. */
const MAX_WAITING = 10_000

/**
 * Builds the writer over a store. Records wait as text: the objects of a quote take several times as much memory, and the garbage
 * collector would copy them.
 */
export function createQuoteRecordWriter(options: QuoteRecordWriterOptions): QuoteRecordWriter {
  const { store, onWritten, metrics, log } = options
  let waiting: StoredQuoteRecord[] = []
  /** The records that are being written. */
  let batch: readonly StoredQuoteRecord[] = []
  let timer: NodeJS.Timeout | undefined
  let writing: Promise<unknown> = Promise.resolve()
  let isClosed = false
  // The series must exist before the first dropped record, so that its rate is visible from then on.
  for (const result of ['written', 'dropped']) metrics.quoteRecords.inc({ result }, 0)

  function drop(records: number, error: unknown): void {
    metrics.quoteRecords.inc({ result: 'dropped' }, records)
    log.error({ err: error, records }, 'records of quotes could not be written')
  }

  /** @returns false when the store cannot reach its database; the records then wait again */
  async function writeBatch(): Promise<boolean> {
    batch = waiting.slice(0, MAX_BATCH)
    waiting = waiting.slice(MAX_BATCH)
    let isConnectionError = false
    try {
      await store.save(batch)
      metrics.quoteRecords.inc({ result: 'written' }, batch.length)
    } catch (error) {
      isConnectionError = toServiceError(error).reason === 'DATABASE_UNAVAILABLE'
      if (isConnectionError) waiting = [...batch, ...waiting]
      else drop(batch.length, error)
    }
    batch = []
    return !isConnectionError
  }

  async function writeBatches(least: number): Promise<boolean> {
    while (waiting.length >= least) if (!(await writeBatch())) return false
    return true
  }

  function writeSoon(): void {
    timer = setTimeout(async () => {
      writing = writeBatches(MAX_BATCH).then(
        (canTakeMore) => canTakeMore && waiting.length > 0 && writeBatch(),
      )
      await writing
      if (isClosed) return
      onWritten()
      timer = undefined
      if (waiting.length > 0) writeSoon()
    }, WAIT_MS)
  }

  return {
    add(trace) {
      if (isClosed || waiting.length >= MAX_WAITING) return metrics.quoteRecords.inc({ result: 'dropped' })
      waiting.push(toStored(trace))
      if (timer === undefined) writeSoon()
    },
    find: (quoteId) => [...batch, ...waiting].find((record) => record.quoteId === quoteId),
    waiting: () => [...batch, ...waiting],
    async close() {
      isClosed = true
      clearTimeout(timer)
      await writing
      if (await writeBatches(1)) return
      drop(waiting.length, new Error('the database cannot be reached'))
      waiting = []
    },
  }
}

function toStored(trace: QuoteTrace): StoredQuoteRecord {
  const record = JSON.stringify(toQuoteRecord(trace))
  return { quoteId: trace.quoteId, requestedAt: trace.requestedAt, record }
}
