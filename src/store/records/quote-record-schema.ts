/** The tables of quote records. */
export interface QuoteRecordSchema {
  quote_records: {
    quote_id: string
    requested_at_ms: number
    /** JSON of a QuoteRecord. */
    record: string
    /** Bytes written before this record; unused in a file, whose pages are counted instead. */
    start_byte: number
  }
  /** A table with one row. */
  quote_record_bytes: {
    written_bytes: number
  }
}
