import { Counter, Gauge, Histogram, type Registry } from 'prom-client'

const SOLVER_SECONDS = [0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5]

/** Builds the metrics of solvers and of the requests to them. */
export function createSolverMetrics(registers: Registry[]) {
  return {
    solverReplies: new Counter({
      name: 'aggregator_solver_replies_total',
      help: 'Requests to solvers, by chain, outcome (quoted, declined, invalid, late, failed, cancelled) and reason, which only invalid ones and those of an unreachable replica have.',
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
    solverLast: new Counter({
      name: 'aggregator_solver_waited_for_last_total',
      help: 'Quotes that waited for this solver last, by chain and solver. When several solvers had not answered at the end, it is counted for each.',
      labelNames: ['chain_id', 'solver'],
      registers,
    }),
    solverWins: new Counter({
      name: 'aggregator_solver_wins_total',
      help: 'Quotes whose best offer was the one of this solver, by chain and solver.',
      labelNames: ['chain_id', 'solver'],
      registers,
    }),
    solverOrders: new Gauge({
      name: 'aggregator_solver_orders',
      help: 'Orders of each registered solver in the last 24 hours, by chain, solver and step (deposited, settled, refunded). All replicas have the same numbers.',
      labelNames: ['chain_id', 'solver', 'step'],
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
    solverCoolDown: new Gauge({
      name: 'aggregator_solver_cool_down',
      help: 'Whether a solver is in a cool-down (1), because deposited orders of it were refunded, by chain and solver. It is not asked then.',
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
      help: "Open connections to a solver's endpoint, by chain and solver; MAX_CONNECTIONS_PER_SOLVER is the limit. Sessions are not counted.",
      labelNames: ['chain_id', 'solver'],
      registers,
    }),
    solverWaiting: new Gauge({
      name: 'aggregator_solver_requests_queued',
      help: 'Requests that wait for a free connection to a solver, or for earlier ones on its session, by chain and solver.',
      labelNames: ['chain_id', 'solver'],
      registers,
    }),
    solverFreeBond: new Gauge({
      name: 'aggregator_solver_free_bond',
      help: "A solver's bond without the reserved and unstaking parts, in the bond token's smallest unit, by chain and solver.",
      labelNames: ['chain_id', 'solver'],
      registers,
    }),
  }
}
