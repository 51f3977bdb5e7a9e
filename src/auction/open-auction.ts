import type { QuoteRequest } from '../../packages/protocol/src/quotes/quote.js'
import type { Solver, SolverKey } from '../../packages/protocol/src/solvers/solver.js'
import { createSolverStatistics } from '../solvers/statistics/hourly-counts.js'
import { collectStandingMetrics, removeOtherSolvers } from '../solvers/statistics/solver-counters.js'
import { createSlots } from '../solvers/transport/request-slots.js'
import { createSolverHttpClient } from '../solvers/transport/solver-http-client.js'
import { Standings } from '../standing/standing.js'
import { createTraces } from '../telemetry/traces.js'
import { createAuction } from './auction.js'
import { createCheckEndpoint } from './check-endpoint.js'
import type { AuctionContext } from './context.js'
import { createPrices } from './prices.js'
import { createQuoteIds } from './quote-ids.js'
import { createQuoteRecorder, NO_RECORDER } from './records/quote-recorder.js'
import { createRoundTraces } from './records/round-trace.js'
import {
  createResultReports,
  createRoundCounts,
  logWithoutOffer,
  type RoundSink,
  rememberFirm,
} from './sinks.js'
import { createSolverChoice } from './solver-choice.js'

/** The auction with its parts. */
export type AuctionParts = ReturnType<typeof openAuction>

/** Builds the parts that ask solvers, validate and rank their replies, and keep their standings. */
export function openAuction(context: AuctionContext) {
  const { config, chains, stores, metrics, log, clock } = context
  const standings = new Standings(clock.monotonic, log)
  const slots = createSlots(config.maxConnectionsPerSolver)
  const choice = createSolverChoice(context, standings, slots)
  const quoteIds = createQuoteIds(stores.recordKey)
  const store = stores.quoteRecords
  const recorder = store === undefined ? NO_RECORDER : createQuoteRecorder(context, store, quoteIds)
  const http = createSolverHttpClient(context.endpointGuard, config.maxConnectionsPerSolver)
  const statistics = createSolverStatistics(stores.solverHours, clock, log)
  const target = config.traces
  const traces = target && createTraces({ target, spans: metrics.traceSpans, log, clock })
  const lastQuoted = new Map<number, QuoteRequest>()
  const sinks: readonly RoundSink[] = [
    // First: the events of an order may come at any time after its offer is sent.
    rememberFirm(context.usedNonces.recordOffer, lastQuoted),
    { onAnswer: recorder.record },
    createResultReports(context.sessions),
    createRoundCounts(standings, statistics, metrics),
    logWithoutOffer(log),
    ...(traces ? [createRoundTraces(traces, target.share)] : []),
  ]
  const auction = createAuction(context, { choice, standings, http, quoteIds, sinks })
  const prices = createPrices(context, auction)

  return {
    auction,
    prices,
    recorder,
    /** Reads the token of a page of a solver's own results. */
    readPageToken: quoteIds.readPageToken,
    checkEndpoint: createCheckEndpoint(context, (chainId) => lastQuoted.get(chainId)),
    notAskedReason: choice.notAskedReason,
    /** What solvers of a chain sign; undefined until its contract has been read once. */
    typedDataOf: (chainId: number) => chains.get(chainId)?.quoteTypedData(),
    /** The circuit breaker of a solver at this replica. */
    circuitStateOf: (key: SolverKey) => standings.find(key)?.circuitState(clock.monotonic()) ?? 'closed',
    /** Whether the last request to the solver did not reach it. */
    isUnreachable: (key: SolverKey) => standings.find(key)?.isUnreachable ?? false,
    /** Updates the metrics. @param reachable the reachable solvers of each chain */
    async collectMetrics(reachable: ReadonlyMap<number, readonly Solver[]>): Promise<void> {
      const solvers = [...reachable.values()].flat()
      const connectionsOf = http.countConnections()
      collectStandingMetrics({ solvers, standings, slots, connectionsOf, metrics })
      await removeOtherSolvers(metrics, reachable)
    },
    async close(): Promise<void> {
      await prices.close()
      await http.close()
      await Promise.all([recorder.close(), statistics.close(), traces?.close()])
    },
  }
}
