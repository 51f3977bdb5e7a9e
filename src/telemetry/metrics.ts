import { Counter, collectDefaultMetrics, Histogram, Registry } from 'prom-client'

const REQUEST_SECONDS = [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5]

/** The figures of one instance; labels take values of closed lists only, so that no client can make series grow. */
export type Metrics = ReturnType<typeof createMetrics>

/** Builds the figures of one instance, with those of the process. */
export function createMetrics() {
  const registry = new Registry()
  const registers = [registry]
  collectDefaultMetrics({ register: registry })

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
      help: 'Quotes asked for, by chain and outcome (quoted, no_quotes).',
      labelNames: ['chain_id', 'outcome'],
      registers,
    }),
    solverReplies: new Counter({
      name: 'aggregator_solver_replies_total',
      help: 'Outcomes of asking a solver (quoted, refused, invalid, late, failed, cancelled), with the reason when invalid.',
      labelNames: ['chain_id', 'outcome', 'reason'],
      registers,
    }),
  }
}
