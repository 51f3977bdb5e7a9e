import type { Clock } from '../../protocol/src/clock.js'
import type { SolverMetrics } from './monitoring.js'
import type { Callback, Settings, SolverAccount, SolverLog, SolverOptions } from './solver-options.js'
import type { SolverState } from './state.js'

/** What the parts of a solver share. */
export interface SolverParts {
  readonly options: Settings
  readonly account: SolverAccount
  readonly state: SolverState
  readonly clock: Clock
  readonly metrics: SolverMetrics
  readonly log: SolverLog
  /** Whether a line or an error that strangers can cause is due: once a minute for each reason. */
  readonly isDue: (reason: string) => boolean
  /** Tell the market maker, and never throw. */
  readonly hooks: Required<Pick<SolverOptions, Callback>>
  /** Gets every error that the solver goes on after. */
  readonly onError: (error: unknown) => void
  /** Aborts when the solver is closed. */
  readonly signal: AbortSignal
}

/** The base URLs of an instance. */
export const serviceUrlsOf = ({ aggregatorUrl }: Settings): readonly string[] => [aggregatorUrl].flat()
export const chainIdsOf = ({ chains }: Settings) => Object.keys(chains).map(Number)
