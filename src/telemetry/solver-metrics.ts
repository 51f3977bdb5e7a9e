import type { MetricKinds } from './metric-kinds.js'

const SOLVER_SECONDS = [0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5]

/** Builds the metrics of solvers and of the requests to them. */
export function createSolverMetrics({ counter, gauge, histogram }: MetricKinds) {
  return {
    solverReplies: counter(
      'aggregator_solver_replies_total',
      'Requests to solvers, by chain, outcome (quoted, declined, invalid, late, soft_deadline, failed, cancelled) and reason, which only invalid ones and those of an unreachable replica have.',
      ['chain_id', 'outcome', 'reason'],
    ),
    solverOutcomes: counter(
      'aggregator_solver_outcomes_total',
      'Requests to each registered solver, by chain, solver and outcome (quoted, declined, invalid, late, soft_deadline, failed, cancelled).',
      ['chain_id', 'solver', 'outcome'],
    ),
    solverResponseSeconds: histogram(
      'aggregator_solver_response_duration_seconds',
      'Time from a request to a solver to its response of any kind, by chain and solver. Requests without a response in time are not included.',
      ['chain_id', 'solver'],
      SOLVER_SECONDS,
    ),
    solverWins: counter(
      'aggregator_solver_wins_total',
      'Quotes whose best offer was the one of this solver, by chain and solver.',
      ['chain_id', 'solver'],
    ),
    solverOrders: gauge(
      'aggregator_solver_orders',
      'Orders of each registered solver in the last 24 hours, by chain, solver and step (deposited, settled, refunded). All replicas have the same numbers.',
      ['chain_id', 'solver', 'step'],
    ),
    solvers: gauge(
      'aggregator_solvers',
      'Registered solvers, by chain and state (active, inactive: without a sufficient bond).',
      ['chain_id', 'state'],
    ),
    registrations: counter(
      'aggregator_registrations_total',
      'Registrations with valid fields, by chain, action (register, unregister) and result (OK or an error).',
      ['chain_id', 'action', 'result'],
    ),
    solverCircuitOpen: gauge(
      'aggregator_solver_circuit_open',
      'Whether the circuit breaker of a solver is open (1), so that no quote asks it, by chain and solver.',
      ['chain_id', 'solver'],
    ),
    solverConnections: gauge(
      'aggregator_solver_connections',
      "Open connections to a solver's endpoint, by chain and solver; MAX_CONNECTIONS_PER_SOLVER is the limit. Sessions are not counted.",
      ['chain_id', 'solver'],
    ),
    solverWaiting: gauge(
      'aggregator_solver_requests_queued',
      'Requests that wait for a free connection to a solver, or for earlier ones on its session, by chain and solver.',
      ['chain_id', 'solver'],
    ),
    solverFreeBond: gauge(
      'aggregator_solver_free_bond',
      "A solver's bond without the reserved and unstaking parts, in the bond token's smallest unit, by chain and solver.",
      ['chain_id', 'solver'],
    ),
  }
}

/** Builds the metrics of solver sessions. */
export function createSessionMetrics({ counter, gauge }: MetricKinds) {
  return {
    solverSessions: gauge(
      'aggregator_solver_sessions',
      'Open solver sessions, by transport (websocket, grpc).',
      ['transport'],
    ),
    solverSessionsPending: gauge(
      'aggregator_solver_sessions_pending',
      'Connections for a solver session without an accepted hello; at most 256.',
    ),
    solverSessionEnds: counter(
      'aggregator_solver_session_ends_total',
      'Ended solver sessions, by reason (CLOSED by the solver, or an error).',
      ['reason'],
    ),
    replicaRequests: counter(
      'aggregator_replica_requests_total',
      'Quote requests to solver sessions at other replicas, by result (answered or failed on the way).',
      ['result'],
    ),
    replicasUnreachable: gauge(
      'aggregator_replicas_unreachable',
      'Other replicas with solver sessions that do not answer this one.',
    ),
  }
}
