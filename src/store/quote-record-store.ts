/** The record of a quote as it is kept. */
export interface StoredQuoteRecord {
  readonly quoteId: string
  /** Unix time in milliseconds. */
  readonly requestedAt: number
  /** JSON of a QuoteRecord: nothing that threads hand to each other is cheaper than text. */
  readonly record: string
}

/** Keeps records of quotes, up to a size. */
export interface QuoteRecordStore {
  /** Saves records, and removes the oldest ones that are too many then. */
  save(records: readonly StoredQuoteRecord[]): Promise<void>
  /** @returns the record's JSON */
  read(quoteId: string): Promise<string | undefined>
  /**
   * Removes some records: those asked for before a time, or the oldest beyond the size.
   * @param before Unix time in milliseconds
   * @returns whether there may be more of them
   */
  pruneSome(before: number): Promise<boolean>
  /** The bytes that the records use, which the size bounds. */
  usedBytes(): Promise<number>
  close(): Promise<void>
}
