import type { Clock } from '../../protocol/src/clock.js'
import type { SolverMetrics } from './metrics.js'
import type { RiskLimits } from './risk/quote-ledger.js'
import type { SolverAccount, SolverLog, SolverOptions } from './solver-options.js'
import type { SolverState } from './state.js'

/** The options that are told of everything that changes money (docs/decisions.md, D32). */
export const HOOKS = [
  'onQuoted',
  'onDeposit',
  'onDepositRemoved',
  'onFilled',
  'onMissed',
  'onCancelled',
  'onTransaction',
] as const
export type Hooks = Required<Pick<SolverOptions, (typeof HOOKS)[number]>>

/** What the chains of a solver share. */
export interface SolverParts extends Pick<SolverOptions, 'mayFill' | 'acceptLess'> {
  readonly account: SolverAccount
  readonly protocolName: string
  readonly limits: RiskLimits
  readonly clock: Clock
  readonly state: SolverState
  readonly metrics: SolverMetrics
  readonly log: SolverLog
  /** Tell the market maker, and never throw. */
  readonly hooks: Hooks
  /** Gets every error that the solver goes on after. */
  readonly onError: (error: unknown) => void
  /** Aborts when the solver is closed. */
  readonly signal: AbortSignal
}
