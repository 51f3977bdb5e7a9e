/** A record of a quote in its stored form. */
export interface StoredQuoteRecord {
  readonly quoteId: string
  /** Unix time in milliseconds. */
  readonly requestedAt: number
  /** JSON of a QuoteRecord. Text is the cheapest value to pass between threads. */
  readonly record: string
}

/** Stores records of quotes, up to a total size. */
export interface QuoteRecordStore {
  /** Saves records, and removes the oldest ones beyond the total size. */
  save(records: readonly StoredQuoteRecord[]): Promise<void>
  /** @returns the record's JSON */
  read(quoteId: string): Promise<string | undefined>
  /**
   * Removes some records: those of quotes requested before a time, or the oldest beyond the total size.
   * @param before Unix time in milliseconds
   * @returns whether there may be more records to remove
   */
  pruneSome(before: number): Promise<boolean>
  /** The bytes that the records use, as the total size counts them. */
  usedBytes(): Promise<number>
  close(): Promise<void>
}
