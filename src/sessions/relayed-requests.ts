import type { Clock } from '../../packages/protocol/src/clock.js'
import { readPartOf } from '../../packages/protocol/src/quotes/offer.js'
import type { QuoteKind } from '../../packages/protocol/src/quotes/quote.js'
import { type SolverRequestBody, toQuoteRequest } from '../../packages/protocol/src/signing/quote-request.js'
import { REPLICA_UNREACHABLE, type SessionResult } from '../../packages/protocol/src/solvers/solver-result.js'
import type { Address } from '../../packages/protocol/src/values/hex.js'
import { limitTime } from '../concurrency/time-limits.js'
import type { SessionTransport, SolverReply, SolverRequest } from '../solvers/transport/solver-transports.js'

/** A solver that a relayed request is for. */
export interface RelayedSolver {
  readonly sessionId: string
  readonly address: Address
  /** The solver's id of the quote. */
  readonly id: string
}

/** The request of one round for sessions that another replica holds. */
export interface RelayedQuoteRequest {
  readonly type: 'quoteRequest'
  readonly solvers: readonly RelayedSolver[]
  readonly kind: QuoteKind
  /** As in `SolverRequest`. */
  readonly deadline: number
  /** Milliseconds for which the asking replica waits. The clocks of two replicas may differ. */
  readonly waitMs: number
  readonly body: SolverRequestBody
}

/** The result of a relayed request. */
export interface RelayedResult {
  readonly sessionId: string
  readonly id: string
  readonly result: SessionResult
}

/** The body of a request between replicas (docs/decisions.md, D18). */
export type ReplicaMessage =
  | RelayedQuoteRequest
  | { readonly type: 'results'; readonly results: readonly RelayedResult[] }
  | { readonly type: 'ping'; readonly id: string }

/** A line of the answer to a relayed quote request. */
export interface RelayedReply {
  /** The solver's id of the quote. */
  readonly id: string
  /** `late` when the solver did not answer in time. */
  readonly reply: SolverReply | { readonly kind: 'late' }
}

/**
 * Answers a request of another replica, which has proved that it knows the key of the instance.
 * @param text the JSON text of a `ReplicaMessage`
 * @param onLine called with each line of the answer: the JSON text of a `RelayedReply`, or the id of a ping
 * @returns at the end of the answer
 */
export type AnswerReplica = (text: string, onLine: (line: string) => void) => Promise<void>

/**
 * The part of the wait that is left for the answer on its way back, at most a tenth of it. The solver gets the earlier
 * deadline. An answer in time shows the asking replica that the solver was late, and not the way to it.
 */
const RETURN_MS = 50

/** More than the read part of any offer. */
const MAX_LINE_LENGTH = 4096

/**
 * Builds the function. It asks only the sessions of this replica: a request between replicas travels one hop
 * (docs/decisions.md, D18).
 */
export function createRelayedRequests(sessions: SessionTransport, clock: Clock): AnswerReplica {
  /** Each ends the wait of a round. By the solvers' ids of the quote. */
  const waits = new Map<string, () => void>()

  async function requestQuotes(
    { solvers, waitMs, kind, body, deadline }: RelayedQuoteRequest,
    onReply: (reply: RelayedReply) => void,
  ): Promise<void> {
    const returnMs = Math.min(RETURN_MS, Math.ceil(waitMs / 10))
    const round = new AbortController()
    const wait = limitTime(waitMs - returnMs, round.signal, clock)
    const solverRequest: SolverRequest = {
      request: toQuoteRequest(body, kind),
      body: Buffer.from(JSON.stringify(body)),
      deadline: deadline - returnMs,
    }
    const asked = solvers.map(async ({ sessionId, address, id }) => {
      const solver = { chainId: body.chainId, address, session: { id: sessionId } }
      waits.set(id, () => round.abort())
      let isSent = false
      const call = {
        quoteId: id,
        onSent() {
          isSent = true
        },
      }
      const reply = await sessions.requestQuote(solver, solverRequest, wait.signal, call)
      waits.delete(id)
      if (wait.signal.aborted) onReply({ id, reply: { kind: 'late' } })
      // The session has ended or moved, which the asking replica had not read yet. The solver has not seen the request.
      else if (!isSent && isSessionEnded(reply)) onReply({ id, reply: REPLICA_UNREACHABLE })
      else onReply({ id, reply })
    })
    await Promise.all(asked)
    wait.end()
  }

  return async (text, onLine) => {
    const message: ReplicaMessage = JSON.parse(text)
    switch (message.type) {
      case 'quoteRequest':
        return requestQuotes(message, (reply) => onLine(toLine(reply)))
      case 'results':
        for (const { sessionId, id, result } of message.results) {
          // The round may have ended before the wait, because its caller has left or has enough offers.
          waits.get(id)?.()
          sessions.reportResult({ session: { id: sessionId } }, id, result)
        }
        return
      case 'ping':
        return onLine(message.id)
    }
  }
}

function isSessionEnded(reply: SolverReply): boolean {
  return reply.kind === 'failed' && reply.reason === 'session_ended'
}

/**
 * All solvers share the answer, so none may fill it. A body that is too long, or nested too deeply to be written again, is
 * no offer, and is left out.
 */
function toLine({ id, reply }: RelayedReply): string {
  const part = reply.kind === 'replied' ? { kind: reply.kind, body: readPartOf(reply.body) } : reply
  try {
    const line = JSON.stringify({ id, reply: part })
    if (line.length <= MAX_LINE_LENGTH) return line
  } catch {}
  return JSON.stringify({ id, reply: { kind: reply.kind } })
}
