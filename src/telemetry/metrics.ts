import { collectDefaultMetrics, Registry } from 'prom-client'
import { version } from '../config/version.js'
import { createChainMetrics } from './chain-metrics.js'
import { createEventMetrics } from './event-metrics.js'
import { createMetricKinds } from './metric-kinds.js'
import { createSessionMetrics, createSolverMetrics } from './solver-metrics.js'

const STAGE_SECONDS = [
  0.000_025, 0.000_1, 0.000_25, 0.000_5, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5,
]
const REQUEST_SECONDS = [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5]

const MISNAMED_GAUGES = [
  'nodejs_active_handles_total',
  'nodejs_active_requests_total',
  'nodejs_active_resources_total',
]

/** The metrics of one instance. Labels have values of closed lists, registered solvers and valid API keys only, so that clients cannot add series. */
export type Metrics = ReturnType<typeof createMetrics>

/** Builds the metrics of one instance, with those of the process. */
export function createMetrics() {
  const registry = new Registry()
  const kinds = createMetricKinds(registry)
  const { counter, gauge, histogram } = kinds
  collectDefaultMetrics({ register: registry })
  // These gauges have the suffix of counters, which `promtool check metrics` rejects. `nodejs_active_resources` and similar ones count the same by type.
  for (const name of MISNAMED_GAUGES) registry.removeSingleMetric(name)
  gauge('aggregator_build_info', 'Always 1; the label is the version that runs.', ['version']).set(
    { version },
    1,
  )

  return {
    registry,
    recovery: gauge(
      'aggregator_signature_recovery',
      'Always 1; the label is what recovers signers: libsecp256k1 (package), or slow JavaScript (javascript).',
      ['library'],
    ),
    requests: counter(
      'aggregator_requests_total',
      'Requests with a response, by method, protocol (rest, connect, grpc, grpc-web, websocket, sse) and reason (OK, an error, or MALFORMED: bytes that are not a message).',
      ['method', 'protocol', 'reason'],
    ),
    requestSeconds: histogram(
      'aggregator_request_duration_seconds',
      'Time from a request to its response, by method.',
      ['method'],
      REQUEST_SECONDS,
    ),
    quotes: counter(
      'aggregator_quotes_total',
      'Quote requests, by chain and outcome (quoted, no_quotes, missed: no offer in a pair, with the digits of its amount, that had one within a day, cancelled, busy: rejected because all connections to solvers were in use, overloaded: rejected because more quotes waited than can be served in time).',
      ['chain_id', 'outcome'],
    ),
    prices: counter(
      'aggregator_prices_total',
      'Price requests, by chain and outcome (quoted, no_quotes, busy: the results of auctions; shared: joined an auction under way; cached: got the result of an earlier one).',
      ['chain_id', 'outcome'],
    ),
    stageSeconds: histogram(
      'aggregator_quote_stage_duration_seconds',
      "Time of a quote's stages: prepare (choose solvers and send requests), solvers (wait for the last outcome), verify (check and recover the replies that came at the same time), rank.",
      ['stage'],
      STAGE_SECONDS,
    ),
    quoteStreams: gauge(
      'aggregator_quote_streams',
      'Open quote streams, by protocol (rest, connect, grpc, grpc-web).',
      ['protocol'],
    ),
    quoteRecords: counter(
      'aggregator_quote_records_total',
      'Records of quotes, by result (written, dropped).',
      ['result'],
    ),
    traceSpans: counter('aggregator_trace_spans_total', 'Spans of traces, by result (sent, dropped).', [
      'result',
    ]),
    offerNonces: counter(
      'aggregator_offer_nonces_total',
      'Nonces of offers and cancellations, by result (written, dropped).',
      ['result'],
    ),
    droppedMessages: counter(
      'aggregator_replica_messages_dropped_total',
      'Messages on a channel of the replicas that they cannot read, by topic.',
      ['topic'],
    ),
    tableBytes: gauge(
      'aggregator_table_bytes',
      'Size of a table that strangers can fill, by table (offer_nonces: its rows, as their bound counts them; rate_limits).',
      ['table'],
    ),
    quoteRecordBytes: gauge(
      'aggregator_quote_record_bytes',
      'Size of the stored records of quotes, which QUOTE_RECORD_MAX_MB bounds.',
    ),
    databaseUp: gauge(
      'aggregator_database_up',
      'Whether the database can be used (1): its connection works, or its file is intact.',
    ),
    rateLimited: counter(
      'aggregator_rate_limited_total',
      'Requests rejected because of a limit, by limit (quote, price, order, register, unregister, solvers, results, streams, sessions, global).',
      ['limit'],
    ),
    keyRequests: counter(
      'aggregator_key_requests_total',
      'Requests with an API key that has a limit of them, by label of the key and limit.',
      ['key', 'limit'],
    ),
    keyRejections: counter(
      'aggregator_key_rejections_total',
      'Those of aggregator_key_requests_total that were rejected because the key was at its limit.',
      ['key', 'limit'],
    ),
    ...createSolverMetrics(kinds),
    ...createChainMetrics(kinds),
    ...createEventMetrics(kinds),
    ...createSessionMetrics(kinds),
  }
}
