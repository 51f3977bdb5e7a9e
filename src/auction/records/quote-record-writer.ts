import type { QuoteRecord } from '../../../packages/protocol/src/quotes/quote-record.js'
import { toRecordedResult } from '../../../packages/protocol/src/solvers/solver-result.js'
import type { QuoteRecordStore, StoredQuoteRecord } from '../../store/records/quote-record-store.js'
import { createWriteBehind } from '../../store/write-behind.js'
import type { AuctionContext } from '../context.js'
import type { EndedRound } from '../sinks.js'

/** Records in one write. Each write changes most pages of the index of ids, so that fewer writes take less time in all. */
const MAX_BATCH = 200

/**
 * Builds what writes the records of quotes, several at once. They wait as text: the objects of a quote take several times as
 * much memory, and the garbage collector would copy them.
 * @param onWritten called when records were written
 */
export function createQuoteRecordWriter(
  { metrics, clock, log }: AuctionContext,
  store: QuoteRecordStore,
  onWritten: () => void = () => {},
) {
  // The series must exist before the first dropped record, so that its rate is visible from then on.
  for (const result of ['written', 'dropped']) metrics.quoteRecords.inc({ result }, 0)
  const writer = createWriteBehind<StoredQuoteRecord>({
    save: store.save,
    maxBatch: MAX_BATCH,
    clock,
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
    /** Builds the record of a quote, and writes it later. */
    add: (round: EndedRound): void => writer.add(toStored(round)),
    /** A record that is not written yet. */
    find: (quoteId: string): StoredQuoteRecord | undefined =>
      writer.waiting().find((record) => record.quoteId === quoteId),
    flush: writer.flush,
    close: writer.close,
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
