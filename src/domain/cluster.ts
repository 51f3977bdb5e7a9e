/** What replicas send each other messages about. */
export const TOPICS = ['events', 'solvers', 'bonds', 'nonces', 'chains'] as const

export type Topic = (typeof TOPICS)[number]

/** Receives the messages of a topic. */
export interface TopicListener {
  onMessage(text: string): void
  /** Messages may have been lost: the listener reads again what they were about. */
  onMissed(): void
}

/** Sends messages between the replicas of one instance. */
export interface ClusterBus {
  listen(topic: Topic, listener: TopicListener): void
  /** Sends a message to all other replicas that can be reached. @param text at most 7,999 bytes */
  publish(topic: Topic, text: string): void
}

/** Learns whether this replica is the leader. */
export interface LeadershipListener {
  onAcquired(): void
  /** The leadership is lost. Another replica may have acquired it already. */
  onLost(): void
}

/** Elects one leader for each name among the replicas of one instance. */
export interface LeaderElection {
  /**
   * Tries to acquire the leadership, again after each loss.
   * @param name of what is led, such as `chain 1`
   * @returns after the first attempt; when it has succeeded, `onAcquired` has been called
   */
  acquire(name: string, listener: LeadershipListener): Promise<void>
}

/** The replicas of one instance, which share a database and nothing else. */
export interface Cluster extends ClusterBus, LeaderElection {
  /** Whether this replica is connected to the database, or for the only replica, whether its file can be used. */
  isDatabaseUp(): boolean
  close(): Promise<void>
}
