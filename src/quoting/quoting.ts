import type { Clock } from '../../packages/protocol/src/clock.js'
import type { QuoteTypedData } from '../../packages/protocol/src/settlement/settlement.js'
import {
  type ContractRules,
  createOfferValidator,
} from '../../packages/protocol/src/signing/offer-validator.js'
import type { Solver, SolverKey } from '../../packages/protocol/src/solvers/solver.js'
import type { Chain } from '../chain/chain.js'
import { createPauseMeter } from '../concurrency/process-pauses.js'
import type { Config } from '../config/config.js'
import type { CircuitState } from '../solvers/conduct/circuit-breaker.js'
import type { CoolDowns } from '../solvers/conduct/cool-downs.js'
import { createSolverHealthRegistry } from '../solvers/conduct/solver-health-registry.js'
import type { UsedNonces } from '../solvers/conduct/used-nonces.js'
import type { SolverDirectory } from '../solvers/registry/solver-directory.js'
import { createSolverStatistics } from '../solvers/statistics/hourly-counts.js'
import { collectHealthMetrics, createSolverCounters } from '../solvers/statistics/solver-counters.js'
import type { EndpointGuard } from '../solvers/transport/endpoint-guard.js'
import { createSolverHttpClient } from '../solvers/transport/solver-http-client.js'
import { createSolverTransports, type SessionTransport } from '../solvers/transport/solver-transports.js'
import type { QuoteRecordStore } from '../store/records/quote-record-store.js'
import type { CircuitBreakerStore } from '../store/solvers/circuit-breaker-store.js'
import type { SolverHourStore } from '../store/solvers/solver-hour-store.js'
import type { Logger } from '../telemetry/log.js'
import type { Metrics } from '../telemetry/metrics.js'
import { createPrices, type Prices } from './prices.js'
import { createPagePositions, type PagePositions } from './records/own-results.js'
import { createQuoteRecorder, NO_RECORDER, type QuoteRecorder } from './records/quote-recorder.js'
import { createRegistrationChecks, type RegistrationChecks } from './registration-checks.js'
import { type Aggregator, createAggregator } from './round/aggregator.js'
import { createFanOut } from './round/fan-out.js'
import { createOfferVerifier, createOnNonceRefused } from './round/offer-verifier.js'
import { createQuoteIds } from './round/quote-ids.js'
import { createRoundErrors } from './round/round-errors.js'
import { createQueuedAggregator } from './round/round-queue.js'
import { createRoundReports } from './round/round-reports.js'
import { createAttemptQuote } from './round/solver-attempt.js'
import { createSelection } from './round/solver-selection.js'

/** The parts of quoting. */
export interface Quoting {
  readonly aggregator: Aggregator
  readonly prices: Pick<Prices, 'get'>
  readonly recorder: Pick<QuoteRecorder, 'read' | 'listOwn'>
  /** Page tokens of solvers' own results. */
  readonly pagePositions: PagePositions
  readonly registrationChecks: Pick<RegistrationChecks, 'check'>
  /** What solvers of a chain sign; undefined until its contract has been read once. */
  typedDataOf(chainId: number): QuoteTypedData | undefined
  /** The circuit breaker of a solver at this replica; closed for a solver that is not asked. */
  circuitStateOf(key: SolverKey): CircuitState
  /**
   * Updates the metrics.
   * @param reachable the reachable solvers of each chain
   */
  collectMetrics(reachable: ReadonlyMap<number, readonly Solver[]>): void
  close(): Promise<void>
}

interface QuotingOptions {
  readonly config: Pick<
    Config,
    | 'quoteTimeoutMs'
    | 'quoteSoftTimeoutMs'
    | 'priceCacheMs'
    | 'maxQuoteFanOut'
    | 'maxConnectionsPerSolver'
    | 'quoteRecordHours'
    | 'production'
    | 'defaultDepositWindowSeconds'
    | 'defaultFillWindowSeconds'
    | 'verifyTimeoutMs'
  >
  readonly chains: ReadonlyMap<
    number,
    Pick<Chain, 'quoteHasher' | 'quoteTypedData' | 'verifyDeposit' | 'isNonceUsed' | 'wake'>
  >
  readonly directory: Pick<SolverDirectory, 'reachable' | 'find'>
  readonly rules: ContractRules
  readonly usedNonces: Pick<UsedNonces, 'isUsed' | 'recordOffer' | 'setUsed'>
  readonly coolDowns: Pick<CoolDowns, 'of'> | undefined
  readonly endpointGuard: EndpointGuard
  /** Asks solvers on their sessions, here or at other replicas. */
  readonly sessions: SessionTransport
  readonly circuitBreakerStore: CircuitBreakerStore
  readonly solverHourStore: SolverHourStore
  /** Undefined when the instance keeps no records. */
  readonly quoteRecordStore: QuoteRecordStore | undefined
  /** The key of the solvers' quote ids: 16 bytes. */
  readonly recordKey: Uint8Array
  /** The time by which data is removed (see chains.ts). */
  readonly provenTime: () => number
  /** The time from which the deadlines of a chain's quotes are counted (see chains.ts). */
  readonly deadlineTime: (chainId: number) => number
  readonly clock: Clock
  readonly metrics: Metrics
  readonly log: Logger
}

/** Builds the parts that ask solvers, validate and rank their replies, and keep their health. */
export async function openQuoting({ clock, ...options }: QuotingOptions): Promise<Quoting> {
  const { config, metrics } = options
  const { now, monotonic } = clock
  const healthRegistry = await createSolverHealthRegistry({
    ...config,
    ...options,
    clock: monotonic,
    now,
    store: options.circuitBreakerStore,
  })
  const quoteIds = createQuoteIds(options.recordKey)
  const store = options.quoteRecordStore
  const recorder =
    store === undefined ? NO_RECORDER : createQuoteRecorder({ ...config, ...options, now, store, quoteIds })
  const httpClient = createSolverHttpClient(options.endpointGuard, config.maxConnectionsPerSolver)
  const transport = createSolverTransports({ http: httpClient, sessions: options.sessions })
  const counters = createSolverCounters(metrics)
  const statistics = createSolverStatistics({ ...options, clock, store: options.solverHourStore })
  const reports = createRoundReports({
    ...options,
    recorder,
    counters,
    statistics,
  })
  const { lastQuoted } = reports
  const registrationChecks = createRegistrationChecks({ ...config, ...options, lastQuoted, clock })
  const attemptQuote = createAttemptQuote({
    transport,
    validateOffer: createOfferValidator(options.rules, metrics),
    onAttempt: reports.onAttempt,
    clock: monotonic,
  })
  const fanOut = createFanOut({
    ...config,
    attemptQuote,
    pauseMeter: createPauseMeter(clock),
    clock,
  })
  const verifier = createOfferVerifier({
    ...config,
    clock,
    chains: options.chains,
    onNonceRefused: createOnNonceRefused(options),
  })
  const selection = createSelection()
  const roundErrors = createRoundErrors({ ...options, clock: monotonic })
  const parts = { healthRegistry, selection, fanOut, verifier, quoteIds, reports, roundErrors }
  const aggregator = createQueuedAggregator({
    ...options,
    clock,
    ...parts,
    aggregator: createAggregator({ ...config, ...options, ...parts, clock }),
  })
  const prices = createPrices({ ...config, ...options, now, clock: monotonic, aggregator })

  return {
    aggregator,
    prices,
    recorder,
    pagePositions: createPagePositions(options.recordKey),
    registrationChecks,
    typedDataOf: (chainId) => options.chains.get(chainId)?.quoteTypedData(),
    circuitStateOf({ chainId, address }) {
      const healths = healthRegistry.of(chainId, options.directory.reachable(chainId))
      const health = healths.find(({ solver }) => solver.address === address)
      return health?.circuitState(monotonic()) ?? 'closed'
    },
    collectMetrics(reachable) {
      const healths = [...reachable].flatMap(([chainId, solvers]) => healthRegistry.of(chainId, solvers))
      collectHealthMetrics(healths, httpClient.countConnections(), metrics)
      counters.removeOthers(reachable)
    },
    async close() {
      await prices.close()
      await httpClient.close()
      await Promise.all([recorder.close(), statistics.close()])
    },
  }
}
