import { channelOf } from '../store/postgres/postgres.js'
import { TOPICS } from '../store/topics.js'
import type { Logger } from '../telemetry/log.js'
import type { ClusterBus, TopicListener } from './cluster.js'
import type { DedicatedConnection } from './dedicated-connection.js'

/** The messages between replicas, as notifications of PostgreSQL (`listen` and `notify`). */
export interface MessageBus extends ClusterBus {
  /** The notification channels of all topics. */
  readonly channels: readonly string[]
  /** Passes a notification on to the listeners of its topic. */
  receive(channel: string, payload: string): void
  /** Reports to all listeners that messages may have been lost. */
  reportMissed(): void
}

/** Builds the bus. It publishes on a connection that also receives the notifications. */
export function createMessageBus(connection: Pick<DedicatedConnection, 'query'>, log: Logger): MessageBus {
  const listeners = new Map<string, TopicListener[]>()

  return {
    channels: TOPICS.map(channelOf),
    listen(topic, listener) {
      const channel = channelOf(topic)
      listeners.set(channel, [...(listeners.get(channel) ?? []), listener])
    },
    publish(topic, text) {
      void connection.query('select pg_notify($1, $2)', [channelOf(topic), text])
    },
    receive(channel, payload) {
      try {
        for (const listener of listeners.get(channel) ?? []) listener.onMessage(payload)
      } catch (error) {
        log.error({ err: error, channel }, 'a message of another replica could not be processed')
      }
    },
    reportMissed() {
      for (const listener of [...listeners.values()].flat()) listener.onMissed()
    },
  }
}
