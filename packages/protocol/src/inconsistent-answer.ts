/**
 * A node's answers contradict each other, are incomplete or have another shape: the node lags, its chain has just changed, or it does
 * not do what the JSON-RPC specification says.
 */
export class InconsistentAnswerError extends Error {
  override readonly name = 'InconsistentAnswerError'

  /** @param member the member of the answer that cannot be read, such as `logs[2].data` */
  constructor(
    message: string,
    readonly member?: string,
  ) {
    super(message)
  }
}
