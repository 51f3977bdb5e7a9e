/** What replicas tell each other about. */
export const TOPICS = ['events', 'solvers', 'bonds', 'nonces', 'chains'] as const

export type Topic = (typeof TOPICS)[number]

/** Hears what is told on a topic. */
export interface Listener {
  onMessage(text: string): void
  /** Something may have been told that did not come: whoever listens reads anew what it was about. */
  onMissed(): void
}

/** Wants an office that only one replica may hold at a time. */
export interface LeadershipListener {
  onAcquired(): void
  /** The office is lost, and another replica may hold it already. */
  onLost(): void
}

/** The replicas of one instance, as one of them sees them: they share a database, and nothing else. */
export interface Cluster {
  /** Whether this one hears and is heard: its connection to the database stands, or the file of the only one can be used. */
  isDatabaseUp(): boolean
  listen(topic: Topic, listener: Listener): void
  /** Tells the others, as far as they can be reached. @param text at most 7,999 bytes */
  publish(topic: Topic, text: string): void
  /**
   * Runs for an office, again whenever it is lost.
   * @returns once the first attempt has been won, with `onAcquired` called, or lost
   */
  acquire(name: string, candidate: LeadershipListener): Promise<void>
  close(): Promise<void>
}
