import { Counter, collectDefaultMetrics, Gauge, Histogram, Registry } from 'prom-client'
import { version } from '../version.js'
import { createChainMetrics } from './chain-metrics.js'
import { createEventMetrics } from './event-metrics.js'
import { createSessionMetrics } from './session-metrics.js'
import { createSolverMetrics } from './solver-metrics.js'

const STAGE_SECONDS = [
  0.000_025, 0.000_1, 0.000_25, 0.000_5, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5,
]
const REQUEST_SECONDS = [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5]

const MISNAMED_GAUGES = [
  'nodejs_active_handles_total',
  'nodejs_active_requests_total',
  'nodejs_active_resources_total',
]

/** The metrics of one instance. Labels have values of closed lists and registered solvers only, so that clients cannot add series. */
export type Metrics = ReturnType<typeof createMetrics>

/** Builds the metrics of one instance, with those of the process. */
export function createMetrics() {
  const registry = new Registry()
  const registers = [registry]
  collectDefaultMetrics({ register: registry })
  // These gauges have the suffix of counters, which `promtool check metrics` rejects. `nodejs_active_resources` and similar ones count the same by type.
  for (const name of MISNAMED_GAUGES) registry.removeSingleMetric(name)
  new Gauge({
    name: 'aggregator_build_info',
    help: 'Always 1; the label is the version that runs.',
    labelNames: ['version'],
    registers,
  }).set({ version }, 1)

  return {
    registry,
    recovery: new Gauge({
      name: 'aggregator_signature_recovery',
      help: 'Always 1; the label is what recovers signers: libsecp256k1 (package), or slow JavaScript (javascript).',
      labelNames: ['library'],
      registers,
    }),
    requests: new Counter({
      name: 'aggregator_requests_total',
      help: 'Requests with a response, by method, protocol (rest, connect, grpc, grpc-web, websocket, sse) and reason (OK, an error, or MALFORMED: bytes that are not a message).',
      labelNames: ['method', 'protocol', 'reason'],
      registers,
    }),
    requestSeconds: new Histogram({
      name: 'aggregator_request_duration_seconds',
      help: 'Time from a request to its response, by method.',
      labelNames: ['method'],
      buckets: REQUEST_SECONDS,
      registers,
    }),
    quotes: new Counter({
      name: 'aggregator_quotes_total',
      help: 'Quote requests, by chain and outcome (quoted, no_quotes, cancelled, busy: rejected because all connections to solvers were in use, overloaded: rejected because more quotes waited than can be served in time).',
      labelNames: ['chain_id', 'outcome'],
      registers,
    }),
    prices: new Counter({
      name: 'aggregator_prices_total',
      help: 'Price requests, by chain and outcome (quoted, no_quotes, busy: the results of auctions; shared: joined an auction under way; cached: got the result of an earlier one).',
      labelNames: ['chain_id', 'outcome'],
      registers,
    }),
    stageSeconds: new Histogram({
      name: 'aggregator_quote_stage_duration_seconds',
      help: "Time of a quote's stages: prepare (choose solvers and send requests), solvers (wait for the last outcome), verify (check and recover the replies that came at the same time), rank.",
      labelNames: ['stage'],
      buckets: STAGE_SECONDS,
      registers,
    }),
    quoteIdleSeconds: new Histogram({
      name: 'aggregator_quote_idle_duration_seconds',
      help: 'Time from the best offer of a quote to its answer, by chain: what waiting for the other solvers cost.',
      labelNames: ['chain_id'],
      buckets: STAGE_SECONDS,
      registers,
    }),
    quoteStreams: new Gauge({
      name: 'aggregator_quote_streams',
      help: 'Open quote streams, by protocol (rest, connect, grpc, grpc-web).',
      labelNames: ['protocol'],
      registers,
    }),
    quoteRecords: new Counter({
      name: 'aggregator_quote_records_total',
      help: 'Records of quotes, by result (written, dropped).',
      labelNames: ['result'],
      registers,
    }),
    offerNonces: new Counter({
      name: 'aggregator_offer_nonces_total',
      help: 'Nonces of offers and cancellations, by result (written, dropped).',
      labelNames: ['result'],
      registers,
    }),
    quoteRecordBytes: new Gauge({
      name: 'aggregator_quote_record_bytes',
      help: 'Size of the stored records of quotes, which QUOTE_RECORD_MAX_MB bounds.',
      registers,
    }),
    databaseUp: new Gauge({
      name: 'aggregator_database_up',
      help: 'Whether the database can be used (1): its connection works, or its file is intact.',
      registers,
    }),
    rateLimited: new Counter({
      name: 'aggregator_rate_limited_total',
      help: 'Requests rejected because of a limit, by limit (quote, price, order, register, unregister, solvers, results, streams, sessions, global).',
      labelNames: ['limit'],
      registers,
    }),
    ...createSolverMetrics(registers),
    ...createChainMetrics(registers),
    ...createEventMetrics(registers),
    ...createSessionMetrics(registers),
  }
}
