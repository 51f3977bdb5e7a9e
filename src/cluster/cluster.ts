import type { Topic } from '../store/topics.js'

/** Receives the messages of a topic. */
export interface TopicListener {
  onMessage(text: string): void
  /** Messages may have been lost. The listener reads the current state again. */
  onMissed(): void
}

/** Sends messages between the replicas of one instance. */
export interface ClusterBus {
  listen(topic: Topic, listener: TopicListener): void
  /** Sends a message to all other replicas that can be reached. @param text at most 7,999 bytes */
  publish(topic: Topic, text: string): void
}

/** Receives changes of this replica's leadership. */
export interface LeadershipListener {
  onAcquired(): void
  /** The leadership is lost. Another replica may have acquired it already. */
  onLost(): void
}

/** Elects one leader for each name among the replicas of one instance. */
export interface LeaderElection {
  /**
   * Tries to acquire the leadership, and again after each loss.
   * @param name the name of the leadership, such as `chain 1`
   * @returns after the first attempt; if it was successful, `onAcquired` has been called
   */
  acquire(name: string, listener: LeadershipListener): Promise<void>
}

/** The replicas of one instance. They share nothing but a database. */
export interface Cluster extends ClusterBus, LeaderElection {
  /** Whether the database can be used: the connection is up, or for a single instance, the file is usable. */
  isDatabaseUp(): boolean
  close(): Promise<void>
}
