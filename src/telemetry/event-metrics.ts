import { ORDER_EVENT_TYPES } from '../../packages/protocol/src/orders/event.js'
import type { MetricKinds } from './metric-kinds.js'

const EVENT_LAG_SECONDS = [0.5, 1, 2, 5, 10, 20, 30, 60, 120, 300, 900, 3600]

/** Builds the metrics of published events and of the event stream. */
export function createEventMetrics({ counter, gauge, histogram }: MetricKinds) {
  return {
    events: counter(
      'aggregator_events_total',
      `Published events, by chain and type (${[...ORDER_EVENT_TYPES, 'Reverted'].join(', ')}).`,
      ['chain_id', 'type'],
    ),
    eventLagSeconds: histogram(
      'aggregator_event_lag_seconds',
      "Time from a block with events to the publication of its events, by chain. The block's own time is in whole seconds.",
      ['chain_id'],
      EVENT_LAG_SECONDS,
    ),
    eventLogReplacements: counter(
      'aggregator_event_log_replacements_total',
      'Number of times that the event log in the database differed from the one that was sent to subscribers.',
    ),
    streamClients: gauge(
      'aggregator_stream_clients',
      'Clients of the event stream, by protocol (websocket, sse, connect, grpc, grpc-web).',
      ['protocol'],
    ),
    streamRejections: counter(
      'aggregator_stream_rejections_total',
      'Streams rejected because of a limit of open streams, by limit (client, network, instance).',
      ['limit'],
    ),
    streamReplays: gauge(
      'aggregator_stream_replays',
      'Clients of the event stream that replay the log from the database, by state (running, waiting).',
      ['state'],
    ),
    streamDrops: counter(
      'aggregator_stream_drops_total',
      'Clients of the event stream that were closed because they read too slowly.',
    ),
  }
}
