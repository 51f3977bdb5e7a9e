import type { MetricKinds } from './metric-kinds.js'

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
