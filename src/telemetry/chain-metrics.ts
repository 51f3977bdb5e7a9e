import type { MetricKinds } from './metric-kinds.js'

const CALL_SECONDS = [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5]

/** Builds the metrics of chains and of the calls to their RPC endpoints. */
export function createChainMetrics({ counter, gauge, histogram }: MetricKinds) {
  return {
    chainUp: gauge(
      'aggregator_chain_up',
      'Whether the instance can read the chain (1), by chain: an endpoint answers, events can be written, and the head is not lower than the stored blocks.',
      ['chain_id'],
    ),
    chainLeader: gauge(
      'aggregator_chain_leader',
      'Whether this replica is the leader of the chain (1), by chain.',
      ['chain_id'],
    ),
    headBlock: gauge('aggregator_chain_head_block', 'Highest block seen, by chain.', ['chain_id']),
    eventBlock: gauge('aggregator_chain_event_block', 'Last block whose events were published, by chain.', [
      'chain_id',
    ]),
    lagSeconds: gauge('aggregator_chain_lag_seconds', 'Age of the head block, by chain.', ['chain_id']),
    clockSkewSeconds: gauge(
      'aggregator_chain_clock_skew_seconds',
      'How far the clock of this machine is ahead of the chain, by chain; negative when it is behind.',
      ['chain_id'],
    ),
    reorganisations: counter('aggregator_reorganisations_total', 'Reorganisations seen, by chain.', [
      'chain_id',
    ]),
    lateEvents: counter(
      'aggregator_late_events_total',
      'Events that a node had left out and that the second reading of their block found, by chain.',
      ['chain_id'],
    ),
    rpcErrors: counter(
      'aggregator_rpc_errors_total',
      'Polls of a chain that failed at an endpoint, by chain.',
      ['chain_id'],
    ),
    rpcRequests: counter(
      'aggregator_rpc_requests_total',
      'JSON-RPC calls, by chain, method and outcome (ok, refused: the node returned an error, error: no usable response).',
      ['chain_id', 'method', 'outcome'],
    ),
    rpcSeconds: histogram(
      'aggregator_rpc_request_duration_seconds',
      'Duration of JSON-RPC calls, by chain.',
      ['chain_id'],
      CALL_SECONDS,
    ),
    verifications: counter(
      'aggregator_verifications_total',
      'Checks of offers by the settlement contract, by chain and result (accepted, rejected: the offer is dropped, unknown: the contract has not answered).',
      ['chain_id', 'result'],
    ),
    verificationSeconds: histogram(
      'aggregator_verification_duration_seconds',
      'Duration of the checks of offers by the settlement contract, by chain. Checks beyond the budget are not included.',
      ['chain_id'],
      CALL_SECONDS,
    ),
  }
}
