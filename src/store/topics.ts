/** Topics of the messages between replicas. */
export const TOPICS = ['events', 'solvers', 'bonds', 'nonces', 'chains'] as const

/** The topic of the message that others were not sent. */
export const MISSED = 'missed'

export type Topic = (typeof TOPICS)[number]
