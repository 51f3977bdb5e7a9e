import type { QuoteRecord } from '../../../packages/protocol/src/quotes/quote-record.js'
import type { Address } from '../../../packages/protocol/src/values/hex.js'

/** What an operator finds a record by. */
interface RecordKeys {
  readonly chainId: number
  /** In lower case. */
  readonly user: Address
  readonly inputToken: Address
  readonly outputToken: Address
  readonly outcome: QuoteRecord['outcome']
}

/** A record of a quote in its stored form. */
export interface StoredQuoteRecord extends RecordKeys {
  readonly quoteId: string
  /** Unix time in milliseconds. */
  readonly requestedAt: number
  /** JSON of a QuoteRecord. */
  readonly record: string
}

/** A place in the list of records, newest first. */
export interface RecordPosition {
  /** Unix time in milliseconds. */
  readonly requestedAt: number
  readonly quoteId: string
}

/** Selects the records of one solver on one chain. */
export interface RecordFilter {
  readonly chainId: number
  readonly solver: Address
  /** The oldest time of a record: Unix time in milliseconds. */
  readonly since: number
  /** Where the page before ended; undefined for the first page. */
  readonly after: RecordPosition | undefined
  /** Most records of the page. */
  readonly limit: number
}

/** A page of records. It may have fewer than its limit, or none, although more follow. */
export interface RecordPage {
  /** JSON of QuoteRecords, newest first. A few may be of other solvers: their text only contains the address. */
  readonly records: readonly string[]
  /** Where the next page begins; undefined on the last one. */
  readonly next: RecordPosition | undefined
}

/** Selects records for the operator. A key that is left out selects all. */
export interface RecordSearch extends Partial<RecordKeys> {
  /** The oldest time of a record: Unix time in milliseconds. */
  readonly from: number
  /** Its newest time. */
  readonly to: number
  /** Most records. */
  readonly limit: number
}

/** The tables of quote records. */
export interface QuoteRecordSchema {
  quote_records: {
    quote_id: string
    requested_at_ms: number
    /** JSON of a QuoteRecord. */
    record: string
    /** This and the next four are in the record too. They are null in those of before migration 002. */
    chain_id: number | null
    user_address: string | null
    input_token: string | null
    output_token: string | null
    outcome: string | null
    /** Bytes written before this record. */
    start_byte: number
  }
  /** A table with one row. */
  quote_record_bytes: {
    written_bytes: number
  }
}
