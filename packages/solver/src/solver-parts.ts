import type { Clock } from '../../protocol/src/clock.js'
import type { SolverMetrics } from './metrics.js'
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
/** All options that are told something, but for `onError`. */
export const CALLBACKS = [...HOOKS, 'onSession', 'onResult'] as const
export type Hooks = Required<Pick<SolverOptions, (typeof CALLBACKS)[number]>>

/** What a market maker allows when it says nothing (docs/decisions.md, D23). */
export const DEFAULTS = {
  protocolName: 'Service',
  overcommit: 1,
  maxBondShare: 0.1,
  maxOpenBond: 0.5,
  maxAddressBondShare: 0.05,
  minFillSeconds: 60,
  maxLockSeconds: 3_600,
  metricsHost: '127.0.0.1',
}

/** The options of a solver, with the defaults. */
export type Settings = SolverOptions & Readonly<typeof DEFAULTS>

/** Options with the defaults of those that were left out, or are undefined. */
export function withDefaults<D extends object, O extends object>(defaults: D, options: O): O & D {
  const given = Object.entries(options).filter(([, value]) => value !== undefined)
  return { ...defaults, ...(Object.fromEntries(given) as O) }
}

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
  readonly hooks: Hooks
  /** Gets every error that the solver goes on after. */
  readonly onError: (error: unknown) => void
  /** Aborts when the solver is closed. */
  readonly signal: AbortSignal
}

/** The base URLs of an instance. */
export const serviceUrlsOf = ({ aggregatorUrl }: SolverOptions): readonly string[] => [aggregatorUrl].flat()
export const chainIdsOf = ({ chains }: SolverOptions) => Object.keys(chains).map(Number)
