/** A node's answers contradict each other, or lack what it must have: it lags, or its chain has just changed. */
export class InconsistentAnswerError extends Error {
  override readonly name = 'InconsistentAnswerError'
}
