/** A node's answers contradict each other or are incomplete: the node lags, or its chain has just changed. */
export class InconsistentAnswerError extends Error {
  override readonly name = 'InconsistentAnswerError'
}
