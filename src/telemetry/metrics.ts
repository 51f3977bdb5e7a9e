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
    requests: new Counter({
      name: 'aggregator_requests_total',
      help: 'Requests with a response, by method, protocol (rest, connect, grpc, grpc-web, websocket, sse) and reason (OK or an error).',
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
      help: 'Quote requests, by chain and outcome (quoted, no_quotes, cancelled, busy: rejected because all connections to solvers were in use).',
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
      help: 'Requests to solvers, by chain, outcome (quoted, declined, invalid, late, failed, cancelled) and reason, which only invalid ones have.',
      labelNames: ['chain_id', 'outcome', 'reason'],
      registers,
    }),
    solverOutcomes: new Counter({
      name: 'aggregator_solver_outcomes_total',
      help: 'Requests to each registered solver, by chain, solver and outcome (quoted, declined, invalid, late, failed, cancelled).',
      labelNames: ['chain_id', 'solver', 'outcome'],
      registers,
    }),
    solverResponseSeconds: new Histogram({
      name: 'aggregator_solver_response_duration_seconds',
      help: 'Time from a request to a solver to its response of any kind, by chain and solver. Requests without a response in time are not included.',
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
      help: 'Registrations with valid fields, by chain, action (register, unregister) and result (OK or an error).',
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
      help: 'Share of valid offers among the last offers and time losses of a solver, by chain and solver. Quick declines, errors and invalid replies do not count.',
      labelNames: ['chain_id', 'solver'],
      registers,
    }),
    solverUsualSeconds: new Gauge({
      name: 'aggregator_solver_latency_seconds',
      help: 'Moving average of the time that the offers of a solver take, by chain and solver.',
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
      help: "A solver's bond without the reserved and unstaking parts, in the bond token's smallest unit, by chain and solver.",
      labelNames: ['chain_id', 'solver'],
      registers,
    }),
    chainUp: new Gauge({
      name: 'aggregator_chain_up',
      help: 'Whether the instance can read the chain (1), by chain: an endpoint answers, events can be written, and the head is not lower than the stored blocks.',
      labelNames: ['chain_id'],
      registers,
    }),
    chainLeader: new Gauge({
      name: 'aggregator_chain_leader',
      help: 'Whether this replica is the leader of the chain (1), by chain.',
      labelNames: ['chain_id'],
      registers,
    }),
    databaseUp: new Gauge({
      name: 'aggregator_database_up',
      help: 'Whether the database can be used (1): its connection works, or its file is intact.',
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
      help: 'Last block whose events were published, by chain.',
      labelNames: ['chain_id'],
      registers,
    }),
    lagSeconds: new Gauge({
      name: 'aggregator_chain_lag_seconds',
      help: 'Age of the head block, by chain.',
      labelNames: ['chain_id'],
      registers,
    }),
    events: new Counter({
      name: 'aggregator_events_total',
      help: 'Published events, by chain and type (Deposited, Settled, Refunded, Reverted).',
      labelNames: ['chain_id', 'type'],
      registers,
    }),
    eventLagSeconds: new Histogram({
      name: 'aggregator_event_lag_seconds',
      help: "Time from a block with events to the publication of its events, by chain. The block's own time is in whole seconds.",
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
      help: 'Polls of a chain that failed at an endpoint, by chain.',
      labelNames: ['chain_id'],
      registers,
    }),
    rpcRequests: new Counter({
      name: 'aggregator_rpc_requests_total',
      help: 'JSON-RPC calls, by chain, method and outcome (ok, refused: the node returned an error, error: no usable response).',
      labelNames: ['chain_id', 'method', 'outcome'],
      registers,
    }),
    rpcSeconds: new Histogram({
      name: 'aggregator_rpc_request_duration_seconds',
      help: 'Duration of JSON-RPC calls, by chain.',
      labelNames: ['chain_id'],
      buckets: REQUEST_SECONDS,
      registers,
    }),
    rateLimited: new Counter({
      name: 'aggregator_rate_limited_total',
      help: 'Requests rejected because of a limit, by limit (quote, order, register, unregister, solvers, streams, global).',
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
      help: 'Number of times that the event log in the database differed from the one that was sent to subscribers.',
      registers,
    }),
    lateEvents: new Counter({
      name: 'aggregator_late_events_total',
      help: 'Events that a node had left out and that the second reading of their block found, by chain.',
      labelNames: ['chain_id'],
      registers,
    }),
    streamRejections: new Counter({
      name: 'aggregator_stream_rejections_total',
      help: 'Streams rejected because of a limit of open streams, by limit (client, network, instance).',
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
      help: 'Clients of the event stream that were closed because they read too slowly.',
      registers,
    }),
  }
}
