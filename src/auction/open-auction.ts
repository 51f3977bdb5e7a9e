import type { Clock } from '../../packages/protocol/src/clock.js'
import type { QuoteRequest } from '../../packages/protocol/src/quotes/quote.js'
import type { QuoteTypedData } from '../../packages/protocol/src/settlement/settlement.js'
import {
  type ContractRules,
  createOfferValidator,
} from '../../packages/protocol/src/signing/offer-validator.js'
import type { Solver, SolverKey } from '../../packages/protocol/src/solvers/solver.js'
import type { Chain } from '../chain/chain.js'
import type { Config } from '../config/config.js'
import type { UsedNonces } from '../solvers/nonces/used-nonces.js'
import type { SolverDirectory } from '../solvers/registry/solver-directory.js'
import { createSolverStatistics } from '../solvers/statistics/hourly-counts.js'
import { collectStandingMetrics, removeOtherSolvers } from '../solvers/statistics/solver-counters.js'
import type { EndpointGuard } from '../solvers/transport/endpoint-guard.js'
import { createSlots } from '../solvers/transport/request-slots.js'
import { createSolverHttpClient } from '../solvers/transport/solver-http-client.js'
import type { SessionTransport } from '../solvers/transport/solver-transports.js'
import { type CircuitState, Standings } from '../standing/standing.js'
import type { QuoteRecordStore } from '../store/records/quote-record-store.js'
import type { SolverHourStore } from '../store/solvers/solver-hour-store.js'
import type { Logger } from '../telemetry/log.js'
import type { Metrics } from '../telemetry/metrics.js'
import { type Auction, createRounds } from './auction.js'
import { createOfferVerifier } from './offer-verifier.js'
import { createPrices, type Prices } from './prices.js'
import { createQuoteIds } from './quote-ids.js'
import { createPagePositions, type PagePositions } from './records/page-positions.js'
import { createQuoteRecorder, NO_RECORDER, type QuoteRecorder } from './records/quote-recorder.js'
import { createOnNonceRefused } from './refused-nonces.js'
import { createRegistrationChecks, type RegistrationChecks } from './registration-checks.js'
import { createRoundErrors } from './round-errors.js'
import { createQueuedAuction } from './round-queue.js'
import {
  createResultReports,
  createRoundCounts,
  logWithoutOffer,
  onOffer,
  onQuoted,
  onRound,
  type RoundSink,
} from './sinks.js'
import { createSolverChoice, type SolverChoice } from './solver-choice.js'

/** The auction with its parts. */
export interface AuctionParts extends Pick<SolverChoice, 'notAskedReason'> {
  readonly auction: Auction
  readonly prices: Pick<Prices, 'get'>
  readonly recorder: Pick<QuoteRecorder, 'read' | 'listOwn'>
  /** Page tokens of solvers' own results. */
  readonly pagePositions: PagePositions
  readonly registrationChecks: Pick<RegistrationChecks, 'check'>
  /** What solvers of a chain sign; undefined until its contract has been read once. */
  typedDataOf(chainId: number): QuoteTypedData | undefined
  /** The circuit breaker of a solver at this replica. */
  circuitStateOf(key: SolverKey): CircuitState
  /** Whether the last request to the solver did not reach it. */
  isUnreachable(key: SolverKey): boolean
  /**
   * Updates the metrics.
   * @param reachable the reachable solvers of each chain
   */
  collectMetrics(reachable: ReadonlyMap<number, readonly Solver[]>): Promise<void>
  close(): Promise<void>
}

interface AuctionPartsOptions {
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
  readonly directory: Pick<SolverDirectory, 'registered' | 'reachable' | 'find'>
  readonly rules: ContractRules
  readonly usedNonces: Pick<UsedNonces, 'isUsed' | 'recordOffer' | 'setUsed'>
  readonly endpointGuard: EndpointGuard
  /** Asks solvers on their sessions, here or at other replicas. */
  readonly sessions: SessionTransport
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

/** Builds the parts that ask solvers, validate and rank their replies, and keep their standings. */
export function openAuction({ clock, ...options }: AuctionPartsOptions): AuctionParts {
  const { config, chains, metrics, usedNonces } = options
  const { now, monotonic } = clock
  const standings = new Standings(monotonic, options.log)
  const slots = createSlots(config.maxConnectionsPerSolver)
  const choice = createSolverChoice({ ...config, ...options, standings, slots, clock: monotonic })
  const quoteIds = createQuoteIds(options.recordKey)
  const store = options.quoteRecordStore
  const recorder =
    store === undefined ? NO_RECORDER : createQuoteRecorder({ ...config, ...options, now, store, quoteIds })
  const httpClient = createSolverHttpClient(options.endpointGuard, config.maxConnectionsPerSolver)
  const statistics = createSolverStatistics({ ...options, clock, store: options.solverHourStore })
  const lastQuoted = new Map<number, QuoteRequest>()
  const sinks: readonly RoundSink[] = [
    // First: the events of an order may come at any time after its offer is sent.
    onOffer(usedNonces.recordOffer),
    onRound(recorder.record),
    createResultReports(options),
    createRoundCounts({ statistics, metrics }),
    onQuoted(lastQuoted),
    logWithoutOffer(options.log),
  ]
  const registrationChecks = createRegistrationChecks({
    ...config,
    ...options,
    lastQuoted: (chainId) => lastQuoted.get(chainId),
    clock,
  })
  const roundErrors = createRoundErrors({ ...options, clock: monotonic })
  const parts = { ...config, chains, quoteIds, sinks, roundErrors, clock }
  const auction = createQueuedAuction({
    ...parts,
    rounds: createRounds({
      ...parts,
      choice,
      standings,
      http: httpClient,
      sessions: options.sessions,
      validateOffer: createOfferValidator(options.rules, metrics),
      verifier: createOfferVerifier({ ...options, ...parts, onNonceRefused: createOnNonceRefused(options) }),
      metrics,
    }),
  })
  const prices = createPrices({ ...config, ...options, now, clock: monotonic, auction })

  return {
    auction,
    prices,
    recorder,
    pagePositions: createPagePositions(options.recordKey),
    registrationChecks,
    notAskedReason: choice.notAskedReason,
    typedDataOf: (chainId) => chains.get(chainId)?.quoteTypedData(),
    circuitStateOf: (key) => standings.of(key).breaker.state(monotonic()),
    isUnreachable: (key) => standings.of(key).isUnreachable,
    async collectMetrics(reachable) {
      const solvers = [...reachable.values()].flat()
      const connectionsOf = httpClient.countConnections()
      collectStandingMetrics({ solvers, standings, slots, connectionsOf, metrics })
      await removeOtherSolvers(metrics, reachable)
    },
    async close() {
      await prices.close()
      await httpClient.close()
      await Promise.all([recorder.close(), statistics.close()])
    },
  }
}
