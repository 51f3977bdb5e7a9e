import { setImmediate as nextTurn } from 'node:timers/promises'
import type { QuoteRecord } from '../../../packages/protocol/src/quotes/quote-record.js'
import type { RecordFilter } from '../../store/records/quote-record-store.js'
import type { QuoteRecordStore } from '../../store/records/quote-record-table.js'
import type { QuoteIds } from '../quote-ids.js'
import { type QuoteRecordView, viewForSolver } from './record-view.js'

/** A page of a solver's own results, newest first. It may have fewer than its limit, or none, although more follow. */
export interface OwnResultPage {
  readonly results: readonly QuoteRecordView[]
  /** The token of the next page; undefined on the last one. */
  readonly next: string | undefined
}

/** The records that are read in one turn of the event loop. Each has some kilobytes of JSON. */
const RECORDS_PER_TURN = 10

/**
 * Builds the function that lists what came of the requests to one solver, as the solver may see it (docs/decisions.md, D20).
 * @param now Unix time in milliseconds
 */
export function createOwnResults(store: QuoteRecordStore, quoteIds: QuoteIds, now: () => number) {
  return async (filter: RecordFilter): Promise<OwnResultPage> => {
    const { records, next } = await store.list(filter)
    const results: QuoteRecordView[] = []
    for (const [place, text] of records.entries()) {
      if (place % RECORDS_PER_TURN === RECORDS_PER_TURN - 1) await nextTurn()
      const record: QuoteRecord = JSON.parse(text)
      const own = record.solvers.find(({ solver }) => solver === filter.solver)
      if (own?.index === undefined || record.chainId !== filter.chainId) continue
      results.push(viewForSolver(record, own, quoteIds.forSolver(record.quoteId, own.index), now()))
    }
    return { results, next: next && quoteIds.toPageToken(next) }
  }
}
