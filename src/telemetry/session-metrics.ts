import { Counter, Gauge, type Registry } from 'prom-client'

/** Builds the metrics of solver sessions. */
export function createSessionMetrics(registers: Registry[]) {
  return {
    solverSessions: new Gauge({
      name: 'aggregator_solver_sessions',
      help: 'Open solver sessions, by transport (websocket, grpc).',
      labelNames: ['transport'],
      registers,
    }),
    solverSessionsPending: new Gauge({
      name: 'aggregator_solver_sessions_pending',
      help: 'Connections for a solver session without an accepted hello; at most 256.',
      registers,
    }),
    solverSessionEnds: new Counter({
      name: 'aggregator_solver_session_ends_total',
      help: 'Ended solver sessions, by reason (CLOSED by the solver, or an error).',
      labelNames: ['reason'],
      registers,
    }),
    replicaRequests: new Counter({
      name: 'aggregator_replica_requests_total',
      help: 'Quote requests to solver sessions at other replicas, by result (answered or failed on the way).',
      labelNames: ['result'],
      registers,
    }),
    replicasUnreachable: new Gauge({
      name: 'aggregator_replicas_unreachable',
      help: 'Other replicas with solver sessions that do not answer this one.',
      registers,
    }),
  }
}
