/** Topics of the messages between replicas. */
export const TOPICS = ['events', 'solvers', 'bonds', 'nonces', 'chains'] as const

export type Topic = (typeof TOPICS)[number]
