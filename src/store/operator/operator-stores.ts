import type { ApiKeyStore } from './api-key-store.js'
import type { SolverLists } from './listed-solvers.js'

/** What the operator decides, in a database that a service may be using at the same time. */
export interface OperatorStores {
  readonly lists: SolverLists
  readonly keys: ApiKeyStore
  close(): Promise<void>
}
