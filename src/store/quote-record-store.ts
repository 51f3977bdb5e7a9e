/** The record of a quote as it is kept. */
export interface StoredQuoteRecord {
  readonly quoteId: string
  /** Unix time in milliseconds. */
  readonly requestedAt: number
  /** JSON of a QuoteRecord: nothing that threads hand to each other is cheaper than text. */
  readonly record: string
}

/** Keeps records of quotes. */
export interface QuoteRecordStore {
  save(records: readonly StoredQuoteRecord[]): Promise<void>
  /** @returns the record's JSON */
  read(quoteId: string): Promise<string | undefined>
  /** Removes what was asked for before this time, Unix milliseconds. */
  prune(before: number): Promise<void>
  close(): Promise<void>
}
