import { instanceSentence } from './instance-text.js'

/** The code of an instance that has no sessions at all, such as one of another implementation of the protocol. */
export const NO_SESSIONS = 'SESSIONS_NOT_OFFERED'
/** Refusals that the same solver gets again. */
const FINAL_REFUSALS: readonly string[] = [
  'INVALID_ARGUMENT',
  'SIGNATURE_INVALID',
  'AUDIENCE_REJECTED',
  NO_SESSIONS,
]
/** Ends at any time that a new session does not change. */
const FINAL_ENDS: readonly string[] = ['SESSION_REPLACED', 'SOLVER_BLOCKED', 'SOLVER_NOT_FOUND']

interface SessionErrorOptions {
  readonly code?: string
  /** The instance did not open the session. */
  readonly isRefusal?: boolean
  readonly cause?: unknown
}

/** Why a session ended or could not be opened. */
export class SessionError extends Error {
  override readonly name = 'SessionError'
  /** The reason of the instance (docs/api.md, "Errors"), or SESSIONS_NOT_OFFERED; undefined when the connection itself failed. */
  readonly code: string | undefined
  /**
   * Another attempt would not help: the hello must change, another session of this solver has replaced this one, the
   * operator has blocked the solver, the solver was unregistered, or the instance has no sessions.
   */
  readonly isFinal: boolean

  constructor(message: string, { code, isRefusal = false, cause }: SessionErrorOptions = {}) {
    // The words may be those of an instance.
    super(instanceSentence(code === undefined ? message : `${code}: ${message}`), { cause })
    this.code = code
    this.isFinal = FINAL_ENDS.includes(code ?? '') || (isRefusal && FINAL_REFUSALS.includes(code ?? ''))
  }
}
