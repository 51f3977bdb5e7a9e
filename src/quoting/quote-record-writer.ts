import { toServiceError } from '../domain/errors.js'
import type { QuoteRecordStore, StoredQuoteRecord } from '../store/quote-record-store.js'
import type { Logger } from '../telemetry/log.js'
import type { Metrics } from '../telemetry/metrics.js'
import { type QuoteTrace, toQuoteRecord } from './quote-trace.js'

/** Writes the records of quotes, several at once. */
export interface QuoteRecordWriter {
  /** Takes the trace of a quote, and writes its record later. */
  add(trace: QuoteTrace): void
  /** A trace whose record is not written yet. */
  find(quoteId: string): QuoteTrace | undefined
  /** The traces whose records are not written yet. */
  waiting(): readonly QuoteTrace[]
  /** Writes the records that wait. Later traces are dropped, and the store is no longer used. */
  close(): Promise<void>
}

interface QuoteRecordWriterOptions {
  readonly store: Pick<QuoteRecordStore, 'save'>
  /** Called when records were written. */
  readonly onWritten: () => void
  readonly metrics: Pick<Metrics, 'quoteRecords'>
  readonly log: Logger
}

/** How long traces wait, so that several are written together. */
const WAIT_MS = 1000
/** Records in one write; to build them takes about half a millisecond. */
const MAX_BATCH = 50
/** Traces that may wait. More are dropped, when the database is slower than the quotes. */
const MAX_WAITING = 10_000

/** Builds the writer over a store. */
export function createQuoteRecordWriter(options: QuoteRecordWriterOptions): QuoteRecordWriter {
  const { store, onWritten, metrics, log } = options
  let waiting: QuoteTrace[] = []
  /** The traces whose records are being written. */
  let batch: readonly QuoteTrace[] = []
  let timer: NodeJS.Timeout | undefined
  let writing: Promise<unknown> = Promise.resolve()
  let isClosed = false
  // The series must exist before the first dropped record, so that its rate is visible from then on.
  for (const result of ['written', 'dropped']) metrics.quoteRecords.inc({ result }, 0)

  function drop(records: number, error: unknown): void {
    metrics.quoteRecords.inc({ result: 'dropped' }, records)
    log.error({ err: error, records }, 'records of quotes could not be written')
  }

  /** @returns false when the store cannot reach its database; the traces then wait again */
  async function writeBatch(): Promise<boolean> {
    batch = waiting.slice(0, MAX_BATCH)
    waiting = waiting.slice(MAX_BATCH)
    let isConnectionError = false
    try {
      await store.save(batch.map(toStored))
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
      waiting.push(trace)
      if (timer === undefined) writeSoon()
    },
    find: (quoteId) => [...batch, ...waiting].find((trace) => trace.quoteId === quoteId),
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
