import type { StoredQuoteRecord } from '../../../src/store/records/quote-record-store.js'

/** A record of a quote that somebody found no offer for. */
export function storedRecord(changes: Partial<StoredQuoteRecord> = {}): StoredQuoteRecord {
  return {
    quoteId: '1',
    requestedAt: 1,
    chainId: 1,
    user: `0x${'1a'.repeat(20)}`,
    inputToken: `0x${'2b'.repeat(20)}`,
    outputToken: `0x${'3c'.repeat(20)}`,
    outcome: 'no_quotes',
    record: '{}',
    ...changes,
  }
}
