import type { Clock } from '../../protocol/src/clock.js'
import type { SolverMetrics } from './metrics.js'
import type { DepositedOrder, FilledOrder } from './orders/fillable-order.js'
import type { RiskLimits } from './risk/quote-ledger.js'
import type { SolverAccount, SolverLog, SolverOptions } from './solver-options.js'
import type { SolverState } from './state.js'

/** What the chains of a solver share. */
export interface SolverParts extends Pick<SolverOptions, 'fill' | 'acceptLess'> {
  readonly account: SolverAccount
  readonly protocolName: string
  readonly limits: RiskLimits
  readonly clock: Clock
  readonly state: SolverState
  readonly metrics: SolverMetrics
  readonly log: SolverLog
  readonly onDeposit: (order: DepositedOrder) => void
  readonly onFilled: (order: FilledOrder) => void
  /** Gets every error that the solver goes on after. */
  readonly onError: (error: unknown) => void
  /** Aborts when the solver is closed. */
  readonly signal: AbortSignal
}
