import { Counter, Gauge, Histogram, type Registry } from 'prom-client'

const CALL_SECONDS = [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5]

/** Builds the metrics of chains and of the calls to their RPC endpoints. */
export function createChainMetrics(registers: Registry[]) {
  return {
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
    reorganisations: new Counter({
      name: 'aggregator_reorganisations_total',
      help: 'Reorganisations seen, by chain.',
      labelNames: ['chain_id'],
      registers,
    }),
    lateEvents: new Counter({
      name: 'aggregator_late_events_total',
      help: 'Events that a node had left out and that the second reading of their block found, by chain.',
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
      buckets: CALL_SECONDS,
      registers,
    }),
    verifications: new Counter({
      name: 'aggregator_verifications_total',
      help: 'Checks of offers by the settlement contract, by chain and result (accepted, rejected: the offer is dropped, unknown: the contract has not answered).',
      labelNames: ['chain_id', 'result'],
      registers,
    }),
    verificationSeconds: new Histogram({
      name: 'aggregator_verification_duration_seconds',
      help: 'Duration of the checks of offers by the settlement contract, by chain. Checks beyond the budget are not included.',
      labelNames: ['chain_id'],
      buckets: CALL_SECONDS,
      registers,
    }),
  }
}
