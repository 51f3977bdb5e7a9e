import { setImmediate as nextTurn } from 'node:timers/promises'
import { ServiceError } from '../../../packages/protocol/src/errors.js'
import type { QuoteRecord } from '../../../packages/protocol/src/quotes/quote-record.js'
import { keyOf, type SolverKey } from '../../../packages/protocol/src/solvers/solver.js'
import { createSerialQueue } from '../../concurrency/one-at-a-time.js'
import type {
  QuoteRecordStore,
  RecordFilter,
  RecordPosition,
} from '../../store/records/quote-record-store.js'
import type { WriteBehind } from '../../store/write-behind.js'
import type { QuoteIds } from '../quote-ids.js'
import { type OwnResult, resultForSolver } from './record-view.js'

/** A page of a solver's own results, newest first. It may have fewer than its limit, or none, although more follow. */
export interface OwnResultPage {
  readonly results: readonly OwnResult[]
  /** Where the next page begins; undefined on the last one. It must not be shown: it names a quote. */
  readonly next: RecordPosition | undefined
}

/** The records that are read in one turn of the event loop. Each has some kilobytes of JSON. */
const RECORDS_PER_TURN = 10

/**
 * Builds the function that lists what came of the requests to one solver, as the solver may see it (docs/decisions.md, D20).
 * A record is in the list from the end of its round on, unless the database cannot take it at present.
 * @param now Unix time in milliseconds
 */
export function createOwnResults(
  store: Pick<QuoteRecordStore, 'list'>,
  writer: Pick<WriteBehind<unknown>, 'flush'>,
  quoteIds: QuoteIds,
  now: () => number,
) {
  return async (filter: RecordFilter): Promise<OwnResultPage> => {
    await writer.flush()
    const { records, next } = await store.list(filter)
    const results: OwnResult[] = []
    for (const [index, text] of records.entries()) {
      if (index % RECORDS_PER_TURN === RECORDS_PER_TURN - 1) await nextTurn()
      const record: QuoteRecord = JSON.parse(text)
      const result = resultForSolver(record, filter.solver, { quoteIds, now: now() })
      if (result !== undefined && record.chainId === filter.chainId) results.push(result)
    }
    return { results, next }
  }
}

/** Runs the reads of own results: one of a solver at a time, and few in all. */
type RunRead = <T>(key: SolverKey, read: () => Promise<T>) => Promise<T>

/**
 * Builds the function. Each registered solver has one read, and all addresses that are not registered have one together: anyone has
 * many keys. A read waits for its turn.
 * @param isRegistered whether a solver is registered on the chain now
 * @throws ServiceError RATE_LIMITED for a second read
 */
export function createOwnResultReads(isRegistered: (key: SolverKey) => boolean): RunRead {
  const readers = new Set<string>()
  /** Registered solvers wait for each other only, so that two reads are under way at most. Each keeps the connection that writes records. */
  const groups = createSerialQueue()
  return async (key, read) => {
    const reader = isRegistered(key) ? keyOf(key) : OTHERS
    if (readers.has(reader)) throw busy()
    readers.add(reader)
    try {
      return await groups.run(read, reader === OTHERS ? OTHERS : 'registered')
    } finally {
      readers.delete(reader)
    }
  }
}

const OTHERS = 'others'

function busy(): ServiceError {
  const message = 'Another page is being read: read one page after the other, and try again in 1 s.'
  return new ServiceError('RATE_LIMITED', message, { retryAfterSeconds: 1 })
}
