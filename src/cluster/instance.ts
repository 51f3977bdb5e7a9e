import type { Cluster } from '../domain/cluster.js'
import type { Stores } from '../store/stores.js'

/** What the replicas of an instance share. */
export interface Instance {
  readonly stores: Stores
  readonly cluster: Cluster
  close(): Promise<void>
}
