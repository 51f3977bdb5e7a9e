import type { Clock } from '../../../packages/protocol/src/clock.js'
import type { AuctionParts } from '../../auction/open-auction.js'
import type { Chain } from '../../chain/chain.js'
import type { RecentTrades } from '../../chain/tokens/recent-trades.js'
import type { Config } from '../../config/config.js'
import type { FreeBonds } from '../../solvers/bonds/free-bonds.js'
import type { RegisterSolver, UnregisterSolver } from '../../solvers/registry/registrations.js'
import type { SolverDirectory } from '../../solvers/registry/solver-directory.js'
import type { StatisticsReader } from '../../solvers/statistics/statistics-reader.js'
import type { Metrics } from '../../telemetry/metrics.js'

/** What the methods answer from. */
export interface ServiceContext {
  readonly config: Config
  readonly chains: ReadonlyMap<number, Chain>
  readonly directory: SolverDirectory
  readonly freeBonds: FreeBonds
  readonly auction: AuctionParts
  readonly register: RegisterSolver
  readonly unregister: UnregisterSolver
  readonly statistics: StatisticsReader
  readonly trades: RecentTrades
  /** The time from which the deadlines of a chain's quotes are counted (`createDeadlineTime`). */
  readonly deadlineTime: (chainId: number) => number
  readonly clock: Clock
  readonly metrics: Metrics
}
