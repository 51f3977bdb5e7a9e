import type { QuoteRecordStore, StoredQuoteRecord } from '../../store/records/quote-record-store.js'
import { createWriteBehind, type WriteBehind } from '../../store/write-behind.js'
import type { Logger } from '../../telemetry/log.js'
import type { Metrics } from '../../telemetry/metrics.js'
import type { EndedRound } from '../sinks.js'
import { toQuoteRecord } from './to-quote-record.js'

/** Writes the records of quotes, several at once. */
export interface QuoteRecordWriter extends Pick<WriteBehind<StoredQuoteRecord>, 'flush' | 'close'> {
  /** Builds the record of a quote, and writes it later. */
  add(round: EndedRound): void
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
    add: (round) => writer.add(toStored(round)),
    find: (quoteId) => writer.waiting().find((record) => record.quoteId === quoteId),
    flush: writer.flush,
    close: writer.close,
  }
}

function toStored(round: EndedRound): StoredQuoteRecord {
  const record = JSON.stringify(toQuoteRecord(round))
  return { quoteId: round.quoteId, requestedAt: round.requestedAt, record }
}
