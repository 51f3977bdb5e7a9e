/** Refusals of a hello that the same hello gets again. */
const FINAL_REFUSALS: readonly string[] = ['INVALID_ARGUMENT', 'SIGNATURE_INVALID', 'AUDIENCE_REJECTED']
/** Ends at any time that a new session does not change. */
const FINAL_ENDS: readonly string[] = ['SESSION_REPLACED', 'SOLVER_BLOCKED']

interface SessionErrorOptions {
  readonly code?: string
  /** The instance did not accept the hello. */
  readonly isRefusal?: boolean
  readonly cause?: unknown
}

/** Why a session ended or could not be opened. */
export class SessionError extends Error {
  override readonly name = 'SessionError'
  /** The reason of the instance (docs/api.md, "Errors"); undefined when the connection itself failed. */
  readonly code: string | undefined
  /**
   * Another attempt would not help: the hello must change, another session of this solver has replaced this one, or the
   * operator has blocked the solver.
   */
  readonly isFinal: boolean

  constructor(message: string, { code, isRefusal = false, cause }: SessionErrorOptions = {}) {
    super(code === undefined ? message : `${code}: ${message}`, { cause })
    this.code = code
    this.isFinal = FINAL_ENDS.includes(code ?? '') || (isRefusal && FINAL_REFUSALS.includes(code ?? ''))
  }
}
