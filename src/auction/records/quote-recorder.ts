import { ServiceError } from '../../../packages/protocol/src/errors.js'
import type { QuoteRecord } from '../../../packages/protocol/src/quotes/quote-record.js'
import type { SolverKey } from '../../../packages/protocol/src/solvers/solver.js'
import { toRecordedResult } from '../../../packages/protocol/src/solvers/solver-result.js'
import { createSerialQueue } from '../../concurrency/one-at-a-time.js'
import type { RecordFilter, StoredQuoteRecord } from '../../store/records/quote-record-store.js'
import type { QuoteRecordStore } from '../../store/records/quote-record-table.js'
import { startRetention } from '../../store/retention.js'
import { createWriteBehind } from '../../store/write-behind.js'
import type { AuctionContext } from '../context.js'
import type { QuoteIds } from '../quote-ids.js'
import type { EndedRound } from '../sinks.js'
import { createOwnResults, type OwnResultPage } from './own-results.js'
import { type QuoteRecordView, viewForCaller, viewForSolver } from './record-view.js'

/** Writes and reads the records of quotes. */
type QuoteRecorder = ReturnType<typeof createQuoteRecorder>

const HOUR_MS = 3_600_000
const PRUNE_INTERVAL_MS = 10 * 60_000
/** Records in one write. Each write changes most pages of the index of ids, so that fewer writes take less time in all. */
const MAX_BATCH = 200

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
export function createQuoteRecorder(context: AuctionContext, store: QuoteRecordStore, quoteIds: QuoteIds) {
  const { config, directory, provenTime, metrics, log } = context
  const { now } = context.clock
  const oldest = () => provenTime() - config.quoteRecordHours * HOUR_MS
  /** Records wait as text: the objects of a quote take several times as much memory, and the garbage collector would copy them. */
  const writer = createWriteBehind<StoredQuoteRecord>({
    save: store.save,
    maxBatch: MAX_BATCH,
    what: 'records of quotes',
    counter: metrics.quoteRecords,
    onWritten: () => void collectBytes(),
    clock: context.clock,
    log,
  })
  const listOwn = createOwnResults(store, quoteIds, now)
  /**
   * Anyone has many keys, so registered solvers wait for each other only. Each of the two reads keeps the connection that
   * writes records.
   */
  const reads = createSerialQueue()

  async function find(chainId: number, quoteId: string): Promise<QuoteRecord | undefined> {
    const waiting = writer.waiting().find((stored) => stored.quoteId === quoteId)
    const text = waiting?.record ?? (await store.read(quoteId))
    if (text === undefined) return undefined
    const record: QuoteRecord = JSON.parse(text)
    return record.chainId === chainId && record.requestedAt >= oldest() ? record : undefined
  }

  /** Ignores errors: where records are written or removed, the same ones are logged. */
  async function collectBytes(): Promise<void> {
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
    clock: context.clock,
    log,
  })

  return {
    /** Builds the record of a quote, and writes it later. */
    record: (round: EndedRound): void => writer.add(toStored(round)),
    /**
     * @param id a UUID: the caller's, or that of a solver which was asked
     * @returns what this reader may see; undefined when the chain has no such record, or no longer has one
     * @throws ServiceError QUOTE_NOT_FOUND when the instance keeps no records
     */
    async read(chainId: number, id: string): Promise<QuoteRecordView | undefined> {
      const record = await find(chainId, id)
      if (record !== undefined) return viewForCaller(record)
      const { quoteId, index } = quoteIds.readSolverId(id)
      const itsRecord = await find(chainId, quoteId)
      const own = itsRecord?.solvers.find((result) => result.index === index)
      return itsRecord && own && viewForSolver(itsRecord, own, id, now())
    },
    /**
     * Lists what came of the requests to one solver, as the solver may see it (docs/decisions.md, D20). A record is in the list from
     * the end of its round on, unless the database cannot take it at present.
     * @throws ServiceError QUOTE_NOT_FOUND when the instance keeps no records
     */
    listOwn: (key: SolverKey, page: Pick<RecordFilter, 'after' | 'limit'>): Promise<OwnResultPage> =>
      reads.run(
        async () => {
          await writer.flush()
          return listOwn({ chainId: key.chainId, solver: key.address, since: oldest(), ...page })
        },
        directory.find(key) === undefined ? 'others' : 'registered',
      ),
    /** Writes the records that wait. Later ones are dropped, and the store is no longer used. */
    async close(): Promise<void> {
      await Promise.all([endRetention(), writer.close()])
    },
  }
}

function toStored(round: EndedRound): StoredQuoteRecord {
  const { quoteId, requestedAt, outcome, request } = round
  const { chainId, user, inputToken, outputToken } = request
  const record = JSON.stringify(toQuoteRecord(round))
  return { quoteId, requestedAt, chainId, user, inputToken, outputToken, outcome, record }
}

/** Builds the record of a quote. */
export function toQuoteRecord(round: EndedRound): QuoteRecord {
  const { quoteId, request, key, requestedAt, durationMs, outcome, attempts } = round
  const { kind, chainId, amount, ...terms } = request
  return {
    quoteId,
    chainId,
    requestedAt,
    durationMs: Math.round(durationMs),
    outcome,
    kind,
    key,
    request: { ...terms, amount: amount.toString() },
    solvers: attempts.map((attempt, place) => toRecordedResult(attempt, place + 1)),
  }
}
