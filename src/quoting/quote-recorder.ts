import { ServiceError, toServiceError } from '../domain/errors.js'
import type { QuoteRecord } from '../domain/quote-record.js'
import type { QuoteRecordStore, StoredQuoteRecord } from '../store/quote-record-store.js'
import type { Logger } from '../telemetry/log.js'
import type { Metrics } from '../telemetry/metrics.js'
import type { QuoteIds } from './quote-ids.js'
import { type QuoteTrace, toQuoteRecord } from './quote-trace.js'
import { type QuoteRecordView, viewForCaller, viewForSolver } from './record-view.js'

/** Keeps the records of quotes, and finds them again. */
export interface QuoteRecorder {
  /** Takes a quote's minutes; nobody waits for what is made of them. */
  note(trace: QuoteTrace): void
  /**
   * @param id a UUID: the caller's, or that of a solver which was asked
   * @returns what this reader may see; undefined when the chain has no such record, or no longer
   * @throws ServiceError QUOTE_NOT_FOUND where no records are kept
   */
  read(chainId: number, id: string): Promise<QuoteRecordView | undefined>
  /** Writes what was noted; what comes later is dropped, and the store is not used any more. */
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
/** How long minutes may wait for others to be written with. */
const WAIT_MS = 1000
/** Records written at once; to make them takes about half a millisecond. */
const MAX_BATCH = 50
/** Minutes that may wait; those that come while a database is slower than the quotes are not kept. */
const MAX_WAITING = 10_000

/** Keeps nothing, and says so. */
export const NO_RECORDER: QuoteRecorder = {
  note() {},
  async read() {
    const message = 'This instance keeps no records of quotes (QUOTE_RECORD_HOURS is 0).'
    throw new ServiceError('QUOTE_NOT_FOUND', message)
  },
  async close() {},
}

/** Builds the recorder over a store. In the background it removes what is too old, from the start on. */
export function createQuoteRecorder(options: QuoteRecorderOptions): QuoteRecorder {
  const { store, quoteIds, quoteRecordHours, now, metrics, log } = options
  const oldest = () => now() - quoteRecordHours * HOUR_MS
  let waiting: QuoteTrace[] = []
  /** What is being written. */
  let batch: readonly QuoteTrace[] = []
  let timer: NodeJS.Timeout | undefined
  let writing: Promise<unknown> = Promise.resolve()
  let pruning: Promise<void> | undefined
  let isClosed = false

  /** @returns whether the store can take more; what it could not take for lack of a database waits for that */
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

  // A rate of dropped ones can be seen from the first one on only when the series is there before.
  for (const result of ['written', 'dropped']) metrics.quoteRecords.inc({ result }, 0)
  async function readStored(quoteId: string): Promise<QuoteRecord | undefined> {
    const text = await store.read(quoteId)
    return text === undefined ? undefined : JSON.parse(text)
  }

  async function find(chainId: number, quoteId: string): Promise<QuoteRecord | undefined> {
    const noted = [...batch, ...waiting].find((trace) => trace.quoteId === quoteId)
    const record = noted === undefined ? await readStored(quoteId) : toQuoteRecord(noted)
    return record?.chainId === chainId && record.requestedAt >= oldest() ? record : undefined
  }

  /** Each part is a call of its own, so that others are served between them, and an end comes soon. */
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

  /** What fails here has failed, and was logged, where records are written or removed. */
  async function collectMetrics(): Promise<void> {
    if (isClosed) return
    const bytes = await store.usedBytes().catch(() => undefined)
    if (bytes !== undefined) metrics.quoteRecordBytes.set(bytes)
  }

  pruneUnlessUnderWay()
  const pruneTimer = setInterval(pruneUnlessUnderWay, PRUNE_INTERVAL_MS)

  return {
    note(trace) {
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
      drop(waiting.length, new Error('the database is away'))
      waiting = []
    },
  }
}

function toStored(trace: QuoteTrace): StoredQuoteRecord {
  const record = JSON.stringify(toQuoteRecord(trace))
  return { quoteId: trace.quoteId, requestedAt: trace.requestedAt, record }
}
