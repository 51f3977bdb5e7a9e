import type { Address } from 'viem'
import type { Clock } from '../../../src/clock.js'
import type { ChainTime } from './chain/chain-time.js'
import type { SolverChain } from './chain/open-chain.js'
import type { DepositAddresses } from './deposit-addresses.js'
import type { DepositedOrder, FilledOrder } from './fillable-order.js'
import type { SolverMetrics } from './metrics.js'
import type { Payments } from './payments.js'
import type { Holdings, QuoteLedger, RiskLimits } from './quote-ledger.js'
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

/** What the parts of a chain use of each other. */
export interface ChainParts extends SolverParts {
  readonly chain: SolverChain
  /** Lower case. */
  readonly solver: Address
  readonly time: ChainTime
  readonly ledger: QuoteLedger
  readonly addresses: DepositAddresses
  readonly payments: Payments
  /** Gives an error to `onError`, at most once a minute for each reason. */
  readonly report: (reason: string, error: unknown) => void
  /** Reads what the solver has, for the ledger too. @throws viem's errors */
  readonly refresh: () => Promise<Holdings>
}
