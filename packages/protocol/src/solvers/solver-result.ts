import type { AnsweredAmounts, DropReason } from '../quotes/offer.js'
import type { SignedQuote } from '../quotes/quote.js'
import type { ContractRefusal } from '../quotes/verification.js'
import type { Address } from '../values/hex.js'

/** Why a request to an endpoint failed, or its reply could not be read. It does not reveal the endpoint. */
export type HttpFailReason =
  | 'endpoint_rejected'
  | 'name_not_resolved'
  | 'connection_refused'
  | 'unreachable'
  | 'tls_failed'
  | 'not_http'
  | 'reply_too_long'
  | 'connection_lost'

/** Why a request on a session failed (docs/decisions.md, D18). */
export type SessionFailReason =
  /** The session ended before the reply. */
  | 'session_ended'
  /** Too much data waits to be read by the solver, so that nothing was sent. */
  | 'session_congested'

/** Why a solver makes no offer on its session (docs/decisions.md, D18). */
export const DECLINE_CODES = [
  'UNSUPPORTED_PAIR',
  'AMOUNT_TOO_SMALL',
  'AMOUNT_TOO_LARGE',
  'INSUFFICIENT_LIQUIDITY',
  'BOND_CANNOT_COVER',
  'PAUSED',
  'OTHER',
] as const

export type DeclineCode = (typeof DECLINE_CODES)[number]

/** Why a request to a solver failed. */
export type FailReason = HttpFailReason | SessionFailReason

/** The result of the request to one solver. A failure is a value, so that it does not affect other solvers. */
export type SolverResult =
  | { readonly kind: 'quoted'; readonly offer: SignedQuote }
  /** The solver answered over HTTP with another status than 200. */
  | { readonly kind: 'declined'; readonly status: number }
  /** The solver declined on its session. */
  | { readonly kind: 'declined'; readonly code: DeclineCode }
  /** The user cannot use the reply. */
  | {
      readonly kind: 'invalid'
      readonly reason: DropReason | ContractRefusal
      readonly amounts?: AnsweredAmounts | undefined
    }
  /** No reply came within the service's own timeout. */
  | { readonly kind: 'late' }
  /** The round ended by the instance's rule before a reply came (docs/decisions.md, D30). It says nothing about the solver. */
  | { readonly kind: 'soft_deadline' }
  /** Its circuit breaker is open: the quote did not wait for it, and its answer did not come before. */
  | { readonly kind: 'circuit_open' }
  /** The service could not reach the solver, or the connection broke, or the reply was too long. */
  | { readonly kind: 'failed'; readonly reason: FailReason; readonly message: string }
  /**
   * The caller cancelled it or had a shorter deadline or a soft deadline of its own, or the quote ended while the request waited for a connection, or this
   * process was paused, or the replica that holds the solver's session could not be reached. It says nothing about the solver.
   */
  | {
      readonly kind: 'cancelled'
      readonly isQueued?: boolean
      readonly reason?: 'replica_unreachable'
    }

/** The result of a request that its round or its caller has ended. */
export const CANCELLED = { kind: 'cancelled' } as const

/** The result when the replica that holds a solver's session did not answer (docs/decisions.md, D18). */
export const REPLICA_UNREACHABLE = { kind: 'cancelled', reason: 'replica_unreachable' } as const

/** Statuses with which deployed solvers decline, in addition to those below 500 (docs/decisions.md, D14). */
const DECLINE_STATUSES = [501, 503]

/** Whether an answer of this status is a redirect, which the service does not follow. */
export function isRedirect(status: number): boolean {
  return status >= 300 && status < 400
}

/** Whether a solver declines with this status. Otherwise the status is an error of the solver. */
export function isDecline(status: number): boolean {
  return status < 500 || DECLINE_STATUSES.includes(status)
}

/**
 * What the solver itself did, for its circuit breaker and its metrics (docs/decisions.md, D14).
 * @returns undefined without a response of the solver: it was late or cut off, or its request was cancelled or could not be sent on its session
 */
export function responseOf(result: SolverResult): 'offer' | 'decline' | 'error' | undefined {
  switch (result.kind) {
    case 'quoted':
      return 'offer'
    case 'declined':
      return 'code' in result || isDecline(result.status) ? 'decline' : 'error'
    case 'invalid':
      return 'error'
    case 'failed':
      return result.reason === 'session_congested' ? undefined : 'error'
    case 'late':
    case 'soft_deadline':
    case 'circuit_open':
    case 'cancelled':
      return undefined
  }
}

/** Whether the service's own timeout or rule ended the wait for a response. */
export function isOverdue({ kind }: SolverResult): boolean {
  return kind === 'late' || kind === 'soft_deadline'
}

/** Why a round asks a solver (docs/decisions.md, D30). */
export type ChosenBy =
  /** All that could be asked were asked. */
  | 'ALL'
  /** Its offers were among the best of the pair. */
  | 'RANK'
  /** It had its turn. */
  | 'TURN'

/** Why a round asked a solver, and whether it waits for it, as the operator and the solver itself may see it. */
export interface Selection {
  /** Undefined for a request that no quote waits for. */
  readonly chosenBy?: ChosenBy | undefined
  /** The median of its gaps in the pair before the round, in basis points; undefined without a lesson. */
  readonly gapBps?: number | undefined
  /** Whether a round that has enough offers waits for it at all. */
  readonly isWaitedFor?: boolean | undefined
}

/** The part of a result that its solver sees on its session (docs/decisions.md, D15). */
export interface SessionResult extends Selection {
  /** The name of the outcome in the proto. */
  readonly outcome: Uppercase<SolverResult['kind']>
  /** For INVALID and FAILED, as in a record. */
  readonly reason?: string
  /** For QUOTED: the rank among the valid offers, 1 for the best one. */
  readonly rank?: number
}

/**
 * What a solver may see of the result of its own request: of the other solvers, nothing but its rank among them.
 * @param rank the rank of its offer; undefined without a valid one
 */
export function toSessionResult(
  result: SolverResult,
  rank?: number,
  { chosenBy, gapBps, isWaitedFor }: Selection = {},
): SessionResult {
  const outcome = result.kind.toUpperCase() as SessionResult['outcome']
  const shown = { outcome, chosenBy, gapBps, isWaitedFor }
  if (result.kind === 'invalid' || result.kind === 'failed') return { ...shown, reason: result.reason }
  return result.kind === 'quoted' && rank !== undefined ? { ...shown, rank } : shown
}

/** The stored result of a request to one solver. */
export interface RecordedResult extends AnsweredAmounts, Selection {
  readonly solver: Address
  /** Position of the request in the round, from 0; absent in results outside of a record. */
  readonly index?: number | undefined
  readonly outcome: SolverResult['kind']
  /** Rank among the valid offers, 1 for the best one. */
  readonly rank?: number | undefined
  /** Milliseconds for which the solver had the request. */
  readonly durationMs?: number | undefined
  readonly reason?: DropReason | ContractRefusal | FailReason | 'replica_unreachable' | undefined
  /** The solver's answer, when it declined a request over HTTP. */
  readonly httpStatus?: number | undefined
  /** The solver's answer, when it declined a request on its session. */
  readonly declineCode?: DeclineCode | undefined
  /** Whether the settlement contract accepted the offer when it was asked; absent in all other cases. */
  readonly verified?: true | undefined
}

/** A request to one solver that has ended. */
interface EndedRequest extends Selection, Pick<RecordedResult, 'index'> {
  readonly solver: Address
  readonly result: SolverResult
  /** Milliseconds for which the solver had it. */
  readonly tookMs: number
}

/**
 * The stored form of a result. One object literal serves all kinds: there are many results, and to merge objects takes
 * many times as long.
 * @param rank of an offer, 1 for the best one
 */
export function toRecordedResult(
  { solver, index, result, tookMs, chosenBy, gapBps, isWaitedFor }: EndedRequest,
  rank?: number,
): RecordedResult {
  const { kind } = result
  const offer = kind === 'quoted' ? result.offer : undefined
  const amounts = kind === 'invalid' ? result.amounts : undefined
  return {
    solver,
    index,
    outcome: kind,
    rank: offer && rank,
    durationMs: Math.round(tookMs),
    inputAmount: offer?.quote.inputAmount.toString() ?? amounts?.inputAmount,
    outputAmount: offer?.quote.outputAmount.toString() ?? amounts?.outputAmount,
    reason: 'reason' in result ? result.reason : undefined,
    httpStatus: 'status' in result ? result.status : undefined,
    declineCode: 'code' in result ? result.code : undefined,
    verified: offer?.verified,
    chosenBy,
    gapBps,
    isWaitedFor,
  }
}
