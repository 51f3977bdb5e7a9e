import { Counter, collectDefaultMetrics, Gauge, Histogram, Registry } from 'prom-client'
import { version } from '../version.js'

const STAGE_SECONDS = [
  0.000_025, 0.000_1, 0.000_25, 0.000_5, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5,
]
const SOLVER_SECONDS = [0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5]
const EVENT_LAG_SECONDS = [0.5, 1, 2, 5, 10, 20, 30, 60, 120, 300, 900, 3600]
const REQUEST_SECONDS = [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5]

const MISNAMED_GAUGES = [
  'nodejs_active_handles_total',
  'nodejs_active_requests_total',
  'nodejs_active_resources_total',
]

/** The figures of one instance; labels take values of closed lists and registered solvers only: no client makes series grow. */
export type Metrics = ReturnType<typeof createMetrics>

/** Builds the figures of one instance, with those of the process. */
export function createMetrics() {
  const registry = new Registry()
  const registers = [registry]
  collectDefaultMetrics({ register: registry })
  // Gauges with the suffix of counters, which `promtool check metrics` refuses; `nodejs_active_resources` and its like count the same by type.
  for (const name of MISNAMED_GAUGES) registry.removeSingleMetric(name)
  new Gauge({
    name: 'aggregator_build_info',
    help: 'Always 1; the version that runs is its label.',
    labelNames: ['version'],
    registers,
  }).set({ version }, 1)

  return {
    registry,
    requests: new Counter({
      name: 'aggregator_requests_total',
      help: 'Requests answered, by method, protocol (rest, connect, grpc, grpc-web) and reason (OK or an error).',
      labelNames: ['method', 'protocol', 'reason'],
      registers,
    }),
    requestSeconds: new Histogram({
      name: 'aggregator_request_duration_seconds',
      help: 'Time from a request to its answer, by method.',
      labelNames: ['method'],
      buckets: REQUEST_SECONDS,
      registers,
    }),
    quotes: new Counter({
      name: 'aggregator_quotes_total',
      help: 'Quotes asked for, by chain and outcome (quoted, no_quotes, cancelled, busy: refused because all connections to solvers were taken).',
      labelNames: ['chain_id', 'outcome'],
      registers,
    }),
    stageSeconds: new Histogram({
      name: 'aggregator_quote_stage_duration_seconds',
      help: "Time of a quote's stages: prepare (choose and ask solvers), solvers (until the last outcome), verify (check and recover the replies of one moment together), rank.",
      labelNames: ['stage'],
      buckets: STAGE_SECONDS,
      registers,
    }),
    quoteRecords: new Counter({
      name: 'aggregator_quote_records_total',
      help: 'Records of quotes, by result (written, dropped).',
      labelNames: ['result'],
      registers,
    }),
    quoteRecordBytes: new Gauge({
      name: 'aggregator_quote_record_bytes',
      help: 'Size of the stored records of quotes, which QUOTE_RECORD_MAX_MB bounds.',
      registers,
    }),
    solverReplies: new Counter({
      name: 'aggregator_solver_replies_total',
      help: 'Outcomes of asking a solver (quoted, refused, invalid, late, failed, cancelled), with the reason when invalid.',
      labelNames: ['chain_id', 'outcome', 'reason'],
      registers,
    }),
    solverOutcomes: new Counter({
      name: 'aggregator_solver_outcomes_total',
      help: 'Outcomes of asking each registered solver (quoted, refused, invalid, late, failed, cancelled), by chain and solver.',
      labelNames: ['chain_id', 'solver', 'outcome'],
      registers,
    }),
    solverResponseSeconds: new Histogram({
      name: 'aggregator_solver_response_duration_seconds',
      help: 'Time from sending a request to a solver to its answer of any kind, by chain and solver. Requests without an answer in time are not included.',
      labelNames: ['chain_id', 'solver'],
      buckets: SOLVER_SECONDS,
      registers,
    }),
    solvers: new Gauge({
      name: 'aggregator_solvers',
      help: 'Registered solvers, by chain and state (active, inactive: without a sufficient bond).',
      labelNames: ['chain_id', 'state'],
      registers,
    }),
    registrations: new Counter({
      name: 'aggregator_registrations_total',
      help: 'Registrations that came as far as being checked, by chain, action (register, unregister) and result (OK or an error).',
      labelNames: ['chain_id', 'action', 'result'],
      registers,
    }),
    solverCircuitOpen: new Gauge({
      name: 'aggregator_solver_circuit_open',
      help: 'Whether the circuit breaker of a solver is open (1), so that no quote waits for it, by chain and solver.',
      labelNames: ['chain_id', 'solver'],
      registers,
    }),
    solverValidShare: new Gauge({
      name: 'aggregator_solver_valid_ratio',
      help: 'Of the last offers and time losses of a solver, the part that were valid offers; declining, errors and invalid replies do not count while they come soon.',
      labelNames: ['chain_id', 'solver'],
      registers,
    }),
    solverUsualSeconds: new Gauge({
      name: 'aggregator_solver_latency_seconds',
      help: 'How long the offers of a solver have usually taken of late.',
      labelNames: ['chain_id', 'solver'],
      registers,
    }),
    solverConnections: new Gauge({
      name: 'aggregator_solver_connections',
      help: "Open connections to a solver's endpoint, by chain and solver; MAX_CONNECTIONS_PER_SOLVER is the limit.",
      labelNames: ['chain_id', 'solver'],
      registers,
    }),
    solverWaiting: new Gauge({
      name: 'aggregator_solver_requests_queued',
      help: 'Requests that wait for a free connection to a solver, by chain and solver.',
      labelNames: ['chain_id', 'solver'],
      registers,
    }),
    solverFreeBond: new Gauge({
      name: 'aggregator_solver_free_bond',
      help: "A solver's bond less what is reserved and unstaking, in the bond token's smallest unit, by chain and solver.",
      labelNames: ['chain_id', 'solver'],
      registers,
    }),
    chainUp: new Gauge({
      name: 'aggregator_chain_up',
      help: 'Whether the chain is read (1), by chain: an endpoint answers, events can be written, and the head is not lower than the stored blocks.',
      labelNames: ['chain_id'],
      registers,
    }),
    chainLeader: new Gauge({
      name: 'aggregator_chain_leader',
      help: 'Whether this replica reads the chain for all of them (1), by chain.',
      labelNames: ['chain_id'],
      registers,
    }),
    databaseUp: new Gauge({
      name: 'aggregator_database_up',
      help: 'Whether the database can be used (1): its connection stands, or its file is sound.',
      registers,
    }),
    headBlock: new Gauge({
      name: 'aggregator_chain_head_block',
      help: 'Highest block seen, by chain.',
      labelNames: ['chain_id'],
      registers,
    }),
    eventBlock: new Gauge({
      name: 'aggregator_chain_event_block',
      help: 'Last block whose events were announced, by chain.',
      labelNames: ['chain_id'],
      registers,
    }),
    lagSeconds: new Gauge({
      name: 'aggregator_chain_lag_seconds',
      help: "How far the head block's time lies behind the clock, by chain.",
      labelNames: ['chain_id'],
      registers,
    }),
    events: new Counter({
      name: 'aggregator_events_total',
      help: 'Events announced, by chain and type (Deposited, Settled, Refunded, Reverted).',
      labelNames: ['chain_id', 'type'],
      registers,
    }),
    eventLagSeconds: new Histogram({
      name: 'aggregator_event_lag_seconds',
      help: "Time from a block with events to their announcement, by chain; by the block's own time, which is in whole seconds.",
      labelNames: ['chain_id'],
      buckets: EVENT_LAG_SECONDS,
      registers,
    }),
    reorganisations: new Counter({
      name: 'aggregator_reorganisations_total',
      help: 'Reorganisations seen, by chain.',
      labelNames: ['chain_id'],
      registers,
    }),
    rpcErrors: new Counter({
      name: 'aggregator_rpc_errors_total',
      help: 'Looks at a chain that an endpoint failed, by chain.',
      labelNames: ['chain_id'],
      registers,
    }),
    rpcRequests: new Counter({
      name: 'aggregator_rpc_requests_total',
      help: 'JSON-RPC calls, by chain, method and outcome (ok, refused by the node itself, error).',
      labelNames: ['chain_id', 'method', 'outcome'],
      registers,
    }),
    rpcSeconds: new Histogram({
      name: 'aggregator_rpc_request_duration_seconds',
      help: 'Time of JSON-RPC calls, by chain.',
      labelNames: ['chain_id'],
      buckets: REQUEST_SECONDS,
      registers,
    }),
    rateLimited: new Counter({
      name: 'aggregator_rate_limited_total',
      help: 'Requests refused because of a limit (quote, order, register, unregister, solvers, streams, global).',
      labelNames: ['limit'],
      registers,
    }),
    streamClients: new Gauge({
      name: 'aggregator_stream_clients',
      help: 'Clients of the event stream, by protocol (websocket, sse, connect, grpc, grpc-web).',
      labelNames: ['protocol'],
      registers,
    }),
    eventLogReplacements: new Counter({
      name: 'aggregator_event_log_replacements_total',
      help: 'Times that the event log in the database was found to be another than the one that was sent to subscribers.',
      registers,
    }),
    lateEvents: new Counter({
      name: 'aggregator_late_events_total',
      help: 'Events that a node had left out and that were found when their block was read for the second time, by chain.',
      labelNames: ['chain_id'],
      registers,
    }),
    streamRejections: new Counter({
      name: 'aggregator_stream_rejections_total',
      help: 'Streams refused for want of a place, by the limit that was met (client, network, instance).',
      labelNames: ['limit'],
      registers,
    }),
    streamReplays: new Gauge({
      name: 'aggregator_stream_replays',
      help: 'Clients of the event stream that replay the log from the database, by state (running, waiting).',
      labelNames: ['state'],
      registers,
    }),
    streamDrops: new Counter({
      name: 'aggregator_stream_drops_total',
      help: 'Clients of the event stream that were closed because they could not keep up.',
      registers,
    }),
  }
}
