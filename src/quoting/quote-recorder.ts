import { ServiceError, toServiceError } from '../domain/errors.js'
import type { QuoteRecord } from '../domain/quote-record.js'
import type { QuoteRecordStore, StoredQuoteRecord } from '../store/quote-record-store.js'
import type { Logger } from '../telemetry/log.js'
import type { Metrics } from '../telemetry/metrics.js'
import type { QuoteIds } from './quote-ids.js'
import { type QuoteTrace, toQuoteRecord } from './quote-trace.js'
import { type QuoteRecordView, viewForCaller, viewForSolver } from './record-view.js'

/** Writes and reads the records of quotes. */
export interface QuoteRecorder {
  /** Takes the trace of a quote, and writes its record later. */
  record(trace: QuoteTrace): void
  /**
   * @param id a UUID: the caller's, or that of a solver which was asked
   * @returns what this reader may see; undefined when the chain has no such record, or no longer has one
   * @throws ServiceError QUOTE_NOT_FOUND when the instance keeps no records
   */
  read(chainId: number, id: string): Promise<QuoteRecordView | undefined>
  /** Writes the records that wait. Later traces are dropped, and the store is no longer used. */
  close(): Promise<void>
}

interface QuoteRecorderOptions {
  readonly store: QuoteRecordStore
  readonly quoteIds: Pick<QuoteIds, 'readSolverId'>
  readonly quoteRecordHours: number
  /** The clock: Unix time in milliseconds. */
  readonly now: () => number
  readonly metrics: Pick<Metrics, 'quoteRecords' | 'quoteRecordBytes'>
  readonly log: Logger
}

const HOUR_MS = 3_600_000
const PRUNE_INTERVAL_MS = 10 * 60_000
/** How long traces wait, so that several are written together. */
const WAIT_MS = 1000
/** Records in one write; to build them takes about half a millisecond. */
const MAX_BATCH = 50
/** Traces that may wait. More are dropped, when the database is slower than the quotes. */
const MAX_WAITING = 10_000

/** The recorder of an instance that keeps no records. */
export const NO_RECORDER: QuoteRecorder = {
  record() {},
  async read() {
    const message = 'This instance keeps no records of quotes (QUOTE_RECORD_HOURS is 0).'
    throw new ServiceError('QUOTE_NOT_FOUND', message)
  },
  async close() {},
}

/** Builds the recorder over a store. It removes old records in the background, from the start on. */
export function createQuoteRecorder(options: QuoteRecorderOptions): QuoteRecorder {
  const { store, quoteIds, quoteRecordHours, now, metrics, log } = options
  const oldest = () => now() - quoteRecordHours * HOUR_MS
  let waiting: QuoteTrace[] = []
  /** The traces whose records are being written. */
  let batch: readonly QuoteTrace[] = []
  let timer: NodeJS.Timeout | undefined
  let writing: Promise<unknown> = Promise.resolve()
  let pruning: Promise<void> | undefined
  let isClosed = false

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

  function drop(records: number, error: unknown): void {
    metrics.quoteRecords.inc({ result: 'dropped' }, records)
    log.error({ err: error, records }, 'records of quotes could not be written')
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
      void collectMetrics()
      timer = undefined
      if (waiting.length > 0) writeSoon()
    }, WAIT_MS)
  }

  async function readStored(quoteId: string): Promise<QuoteRecord | undefined> {
    const text = await store.read(quoteId)
    return text === undefined ? undefined : JSON.parse(text)
  }

  async function find(chainId: number, quoteId: string): Promise<QuoteRecord | undefined> {
    const pending = [...batch, ...waiting].find((trace) => trace.quoteId === quoteId)
    const record = pending === undefined ? await readStored(quoteId) : toQuoteRecord(pending)
    return record?.chainId === chainId && record.requestedAt >= oldest() ? record : undefined
  }

  /** Removes records in several calls, so that other calls run between them and `close` does not wait long. */
  async function prune(): Promise<void> {
    try {
      while (!isClosed && (await store.pruneSome(oldest())));
      await collectMetrics()
    } catch (error) {
      if (!isClosed) log.error({ err: error }, 'old records of quotes could not be removed')
    }
    pruning = undefined
  }

  function pruneUnlessUnderWay(): void {
    pruning ??= prune()
  }

  /** Ignores errors: where records are written or removed, the same ones are logged. */
  async function collectMetrics(): Promise<void> {
    if (isClosed) return
    const bytes = await store.usedBytes().catch(() => undefined)
    if (bytes !== undefined) metrics.quoteRecordBytes.set(bytes)
  }

  // The series must exist before the first dropped record, so that its rate is visible from then on.
  for (const result of ['written', 'dropped']) metrics.quoteRecords.inc({ result }, 0)
  pruneUnlessUnderWay()
  const pruneTimer = setInterval(pruneUnlessUnderWay, PRUNE_INTERVAL_MS)

  return {
    record(trace) {
      if (isClosed || waiting.length >= MAX_WAITING) return metrics.quoteRecords.inc({ result: 'dropped' })
      waiting.push(trace)
      if (timer === undefined) writeSoon()
    },
    async read(chainId, id) {
      const record = await find(chainId, id)
      if (record !== undefined) return viewForCaller(record)
      const { quoteId, index } = quoteIds.readSolverId(id)
      const solvers = await find(chainId, quoteId)
      return solvers && viewForSolver(solvers, { id, index, now: now() })
    },
    async close() {
      if (isClosed) return
      isClosed = true
      clearInterval(pruneTimer)
      clearTimeout(timer)
      await Promise.all([writing, pruning])
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
