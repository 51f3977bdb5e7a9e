import { Counter, Gauge, Histogram, type Registry } from 'prom-client'

const EVENT_LAG_SECONDS = [0.5, 1, 2, 5, 10, 20, 30, 60, 120, 300, 900, 3600]

/** Builds the metrics of published events and of the event stream. */
export function createEventMetrics(registers: Registry[]) {
  return {
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
    eventLogReplacements: new Counter({
      name: 'aggregator_event_log_replacements_total',
      help: 'Number of times that the event log in the database differed from the one that was sent to subscribers.',
      registers,
    }),
    streamClients: new Gauge({
      name: 'aggregator_stream_clients',
      help: 'Clients of the event stream, by protocol (websocket, sse, connect, grpc, grpc-web).',
      labelNames: ['protocol'],
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
