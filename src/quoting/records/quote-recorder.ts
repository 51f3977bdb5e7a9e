import { ServiceError } from '../../../packages/protocol/src/errors.js'
import type { QuoteRequest, SignedQuote } from '../../../packages/protocol/src/quotes/quote.js'
import type { QuoteRecord } from '../../../packages/protocol/src/quotes/quote-record.js'
import type { SolverKey } from '../../../packages/protocol/src/solvers/solver.js'
import {
  type RecordedResult,
  toRecordedResult,
} from '../../../packages/protocol/src/solvers/solver-result.js'
import type { Address } from '../../../packages/protocol/src/values/hex.js'
import { startRetention } from '../../concurrency/retention.js'
import type { SolverDirectory } from '../../solvers/registry/solver-directory.js'
import type {
  QuoteRecordStore,
  RecordFilter,
  StoredQuoteRecord,
} from '../../store/records/quote-record-store.js'
import { createWriteBehind, type WriteBehind } from '../../store/write-behind.js'
import type { Logger } from '../../telemetry/log.js'
import type { Metrics } from '../../telemetry/metrics.js'
import type { QuoteIds } from '../round/quote-ids.js'
import type { SolverAttempt } from '../round/solver-attempt.js'
import { createOwnResultReads, createOwnResults, type OwnResultPage } from './own-results.js'
import { type QuoteRecordView, viewForCaller, viewForSolver } from './record-view.js'

/** Writes and reads the records of quotes. */
export interface QuoteRecorder {
  /** Builds the record of a quote, and writes it later. */
  record(trace: QuoteTrace): void
  /**
   * @param id a UUID: the caller's, or that of a solver which was asked
   * @returns what this reader may see; undefined when the chain has no such record, or no longer has one
   * @throws ServiceError QUOTE_NOT_FOUND when the instance keeps no records
   */
  read(chainId: number, id: string): Promise<QuoteRecordView | undefined>
  /**
   * Lists what came of the requests to one solver, as the solver may see it (docs/decisions.md, D20).
   * @throws ServiceError QUOTE_NOT_FOUND when the instance keeps no records, RATE_LIMITED while another list is read
   */
  listOwn(key: SolverKey, page: Pick<RecordFilter, 'after' | 'limit'>): Promise<OwnResultPage>
  /** Writes the records that wait. Later ones are dropped, and the store is no longer used. */
  close(): Promise<void>
}

interface QuoteRecorderOptions {
  readonly store: QuoteRecordStore
  readonly quoteIds: Pick<QuoteIds, 'readSolverId' | 'forSolvers'>
  readonly quoteRecordHours: number
  readonly directory: Pick<SolverDirectory, 'find'>
  /** The clock: Unix time in milliseconds. */
  readonly now: () => number
  /** The time by which records expire (see chains.ts). */
  readonly provenTime: () => number
  readonly metrics: Pick<Metrics, 'quoteRecords' | 'quoteRecordBytes'>
  readonly log: Logger
}

const HOUR_MS = 3_600_000
const PRUNE_INTERVAL_MS = 10 * 60_000
/** The recorder of an instance that keeps no records. */
export const NO_RECORDER: QuoteRecorder = {
  record() {},
  read: throwNoRecords,
  listOwn: throwNoRecords,
  async close() {},
}

async function throwNoRecords(): Promise<never> {
  const message = 'This instance keeps no records of quotes (QUOTE_RECORD_HOURS is 0).'
  throw new ServiceError('QUOTE_NOT_FOUND', message)
}

/** Builds the recorder over a store. It removes old records in the background, from the start on. */
export function createQuoteRecorder(options: QuoteRecorderOptions): QuoteRecorder {
  const { store, quoteIds, quoteRecordHours, now, provenTime, metrics, log } = options
  const oldest = () => provenTime() - quoteRecordHours * HOUR_MS
  const writer = createQuoteRecordWriter({ ...options, onWritten: () => void collectBytes() })
  const listOwn = createOwnResults({ store, writer, quoteIds, now })
  const runRead = createOwnResultReads((key) => options.directory.find(key) !== undefined)
  let isClosed = false

  async function find(chainId: number, quoteId: string): Promise<QuoteRecord | undefined> {
    const text = writer.find(quoteId)?.record ?? (await store.read(quoteId))
    if (text === undefined) return undefined
    const record: QuoteRecord = JSON.parse(text)
    return record.chainId === chainId && record.requestedAt >= oldest() ? record : undefined
  }

  /** Ignores errors: where records are written or removed, the same ones are logged. */
  async function collectBytes(): Promise<void> {
    if (isClosed) return
    const bytes = await store.usedBytes().catch(() => undefined)
    if (bytes !== undefined) metrics.quoteRecordBytes.set(bytes)
  }

  const endRetention = startRetention({
    async pruneSome() {
      const isMore = await store.pruneSome(oldest())
      if (!isMore) await collectBytes()
      return isMore
    },
    what: 'records of quotes',
    intervalMs: PRUNE_INTERVAL_MS,
    log,
  })

  return {
    record: writer.add,
    async read(chainId, id) {
      const record = await find(chainId, id)
      if (record !== undefined) return viewForCaller(record)
      const { quoteId, index } = quoteIds.readSolverId(id)
      const itsRecord = await find(chainId, quoteId)
      return itsRecord && viewForSolver(itsRecord, { id, index, now: now() })
    },
    listOwn: ({ chainId, address }, page) =>
      runRead({ chainId, address }, () => listOwn({ chainId, solver: address, since: oldest(), ...page })),
    async close() {
      if (isClosed) return
      isClosed = true
      await Promise.all([endRetention(), writer.close()])
    },
  }
}

/** Writes the records of quotes, several at once. */
export interface QuoteRecordWriter extends Pick<WriteBehind<StoredQuoteRecord>, 'flush' | 'close'> {
  /** Builds the record of a quote, and writes it later. */
  add(trace: QuoteTrace): void
  /** A record that is not written yet. */
  find(quoteId: string): StoredQuoteRecord | undefined
}

interface QuoteRecordWriterOptions {
  readonly store: Pick<QuoteRecordStore, 'save'>
  /** Called when records were written. */
  readonly onWritten: () => void
  readonly metrics: Pick<Metrics, 'quoteRecords'>
  readonly log: Logger
}

/** Records in one write. */
const MAX_BATCH = 50

/**
 * Builds the writer over a store. Records wait as text: the objects of a quote take several times as much memory, and the garbage
 * collector would copy them.
 */
export function createQuoteRecordWriter(options: QuoteRecordWriterOptions): QuoteRecordWriter {
  const { store, onWritten, metrics, log } = options
  // The series must exist before the first dropped record, so that its rate is visible from then on.
  for (const result of ['written', 'dropped']) metrics.quoteRecords.inc({ result }, 0)
  const writer = createWriteBehind<StoredQuoteRecord>({
    save: store.save,
    maxBatch: MAX_BATCH,
    onWritten(records) {
      metrics.quoteRecords.inc({ result: 'written' }, records)
      onWritten()
    },
    onDropped(records, error) {
      metrics.quoteRecords.inc({ result: 'dropped' }, records)
      if (error !== undefined) log.error({ err: error, records }, 'records of quotes could not be written')
    },
  })
  return {
    add: (trace) => writer.add(toStored(trace)),
    find: (quoteId) => writer.waiting().find((record) => record.quoteId === quoteId),
    flush: writer.flush,
    close: writer.close,
  }
}

function toStored(trace: QuoteTrace): StoredQuoteRecord {
  const record = JSON.stringify(toQuoteRecord(trace))
  return { quoteId: trace.quoteId, requestedAt: trace.requestedAt, record }
}

/** What happened in a quote. Its record is built from this. */
export interface QuoteTrace {
  readonly quoteId: string
  readonly request: QuoteRequest
  /** The label of the caller's API key. */
  readonly key?: string | undefined
  /** Unix time in milliseconds. */
  readonly requestedAt: number
  readonly durationMs: number
  readonly outcome: QuoteRecord['outcome']
  /** The valid offers, best first. */
  readonly ranked: readonly SignedQuote[]
  /** The requests to the solvers that the quote waited for, in the order of their results. */
  readonly attempts: readonly SolverAttempt[]
  /** The solvers that were asked, in the order of requests. */
  readonly solvers: readonly Address[]
  /** The solvers that were asked, and for which the quote did not wait. */
  readonly circuitOpen: readonly Address[]
}

/** Builds the record of a quote. */
export function toQuoteRecord(trace: QuoteTrace): QuoteRecord {
  const { quoteId, request, key, requestedAt, durationMs, outcome, ranked, attempts, circuitOpen } = trace
  const indexes = new Map(trace.solvers.map((solver, index) => [solver, index]))
  const ranks = new Map(ranked.map((offer, index) => [offer, index + 1]))
  const offers: RecordedResult[] = []
  const others: RecordedResult[] = []
  for (const attempt of attempts) {
    const recorded = toRecordedResult(attempt, indexes, ranks)
    if (recorded.rank === undefined) others.push(recorded)
    else offers[recorded.rank - 1] = recorded
  }
  for (const solver of circuitOpen)
    others.push({ solver, index: indexes.get(solver), outcome: 'circuit_open' })
  return {
    quoteId,
    chainId: request.chainId,
    requestedAt,
    durationMs: Math.round(durationMs),
    outcome,
    kind: request.kind,
    key,
    request: {
      inputToken: request.inputToken,
      outputToken: request.outputToken,
      orderType: request.orderType,
      amount: request.amount.toString(),
      user: request.user,
      destinationChainId: request.destinationChainId,
      depositMode: request.depositMode,
      depositDeadline: request.depositDeadline,
      fillDeadline: request.fillDeadline,
    },
    solvers: offers.concat(others),
  }
}
