import type { Clock } from '../clock.js'
import type { ResolveAll } from '../solvers/transport/endpoint-addresses.js'
import type { Logger } from '../telemetry/log.js'

/** Replacements for tests. */
export interface AppOverrides {
  /** The clock of this machine by default. */
  readonly clock?: Clock
  readonly log?: Logger
  readonly resolveAll?: ResolveAll
  /** The name servers as `ip:port`. */
  readonly nameServers?: readonly string[]
  /** Interval of the pings of solver sessions, in milliseconds. */
  readonly sessionHeartbeatMs?: number
  /** Time for which a replica without a sign of life keeps its solver sessions, in milliseconds. */
  readonly replicaLeaseMs?: number
}

/** Parts that have been started, each with a function that ends it. The last one ends first. */
export type Started = (() => Promise<void>)[]
