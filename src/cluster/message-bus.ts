import type { Clock } from '../../packages/protocol/src/clock.js'
import { createRetry } from '../concurrency/retry.js'
import { NOTIFY } from '../store/postgres/postgres.js'
import { MISSED, TOPICS, type Topic } from '../store/topics.js'
import type { Logger } from '../telemetry/log.js'
import type { TopicListener } from './cluster.js'
import type { DedicatedConnection } from './dedicated-connection.js'
import { fitsTopic } from './message-shapes.js'

/** The messages between replicas, as notifications of PostgreSQL (`listen` and `notify`). */
export type MessageBus = ReturnType<typeof createMessageBus>

/**
 * Builds the bus. It publishes on a connection that also receives the notifications.
 * @param onDropped called with the topic of a message that does not have its form
 */
export function createMessageBus(
  connection: DedicatedConnection,
  onDropped: (topic: Topic) => void,
  clock: Clock,
  log: Logger,
) {
  const listeners = new Map<string, TopicListener[]>()
  let failure: Error | undefined

  const telling = createRetry({
    async work() {
      // Only this and sent notifications make the server look whether what has filled its queue is gone.
      await connection.query('select pg_catalog.pg_notification_queue_usage()', [])
      const [sent] = await connection.query(NOTIFY, [MISSED, ''])
      if (sent === undefined) throw failure
    },
    onFailure: () =>
      log.warn({ reason: failure?.message }, 'the database takes no messages to other replicas'),
    onRecovery: () => log.info('the database takes messages to other replicas again'),
    clock,
  })

  function reportMissed(): void {
    for (const listener of [...listeners.values()].flat()) listener.onMissed()
  }

  return {
    topics: [...TOPICS, MISSED],
    listen(topic: Topic, listener: TopicListener): void {
      listeners.set(topic, [...(listeners.get(topic) ?? []), listener])
    },
    publish(topic: Topic, text: string): void {
      void connection.query(NOTIFY, [topic, text])
    },
    /** Passes a notification on to the listeners of its topic. */
    receive(name: string, payload: string) {
      if (name === MISSED) return reportMissed()
      const topic = name as Topic
      if (!fitsTopic(topic, payload)) return onDropped(topic)
      try {
        for (const listener of listeners.get(topic) ?? []) listener.onMessage(payload)
      } catch (error) {
        log.error({ err: error, topic }, 'a message of another replica could not be processed')
      }
    },
    /** Reports to all listeners that messages may have been lost. */
    reportMissed,
    /** Tells the other replicas that they may not have been sent a message, as soon as the server takes one. */
    tellMissed(error: Error): void {
      failure = error
      telling.run()
    },
    close: telling.close,
  }
}
