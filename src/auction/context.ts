import type { Clock } from '../../packages/protocol/src/clock.js'
import type { ContractRules } from '../../packages/protocol/src/signing/offer-validator.js'
import type { Chain } from '../chain/chain.js'
import type { Config } from '../config/config.js'
import type { UsedNonces } from '../solvers/nonces/used-nonces.js'
import type { SolverDirectory } from '../solvers/registry/solver-directory.js'
import type { EndpointGuard } from '../solvers/transport/endpoint-guard.js'
import type { SessionTransport } from '../solvers/transport/solver-transports.js'
import type { Stores } from '../store/stores.js'
import type { Logger } from '../telemetry/log.js'
import type { Metrics } from '../telemetry/metrics.js'

/** What the parts of the auction get from the rest of the service. */
export interface AuctionContext {
  readonly config: Config
  readonly chains: ReadonlyMap<number, Chain>
  readonly directory: SolverDirectory
  readonly rules: ContractRules
  readonly usedNonces: UsedNonces
  readonly endpointGuard: EndpointGuard
  /** Asks solvers on their sessions, here or at other replicas. */
  readonly sessions: SessionTransport
  readonly stores: Stores
  /** The time by which data is removed (see chains.ts): Unix time in milliseconds. */
  readonly provenTime: () => number
  /** The time from which the deadlines of a chain's quotes are counted (see chain.ts): Unix time in milliseconds. */
  readonly deadlineTime: (chainId: number) => number
  readonly clock: Clock
  readonly metrics: Metrics
  readonly log: Logger
}
