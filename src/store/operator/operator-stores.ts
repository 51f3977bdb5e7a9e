import type { RecordSearch } from '../records/quote-record-store.js'
import type { ApiKeyStore } from './api-key-store.js'
import type { SolverLists } from './listed-solvers.js'

/** What the operator decides, in a database that a service may be using at the same time. */
export interface OperatorStores {
  readonly lists: SolverLists
  readonly keys: ApiKeyStore
  /**
   * Finds records of quotes.
   * @returns JSON of QuoteRecords, newest first
   * @throws ConfigError when the instance has never kept any, or another version did
   */
  searchRecords(search: RecordSearch): Promise<readonly string[]>
  close(): Promise<void>
}
