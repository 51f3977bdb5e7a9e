import { toQuoteRequest } from '../solvers/request-body.js'
import type { SessionTransport, SolverRequest } from '../solvers/solver-client.js'
import type { RelayedQuoteRequest, RelayedReply, ReplicaMessage } from './replica-messages.js'

/**
 * Answers a request of another replica, which has proved that it knows the key of the instance.
 * @param text the JSON text of a `ReplicaMessage`
 * @returns the JSON text of the answer
 */
export type AnswerReplica = (text: string) => Promise<string>

/**
 * The part of the wait that is left for the answer on its way back, at most a tenth of it. An answer in time shows the asking
 * replica that the solver was late, and not the way to it.
 */
const RETURN_MS = 20

/**
 * Builds the function. It asks only the sessions of this replica: a request between replicas travels one hop
 * (docs/decisions.md, D18).
 */
export function createRelayedRequests(sessions: SessionTransport): AnswerReplica {
  async function requestQuote(message: RelayedQuoteRequest): Promise<RelayedReply> {
    const { sessionId, solver: address, id, waitMs, kind, deadline, traceparent, body } = message
    const controller = new AbortController()
    const timer = setTimeout(() => controller.abort(), waitMs - Math.min(RETURN_MS, waitMs / 10))
    const solver = { chainId: body.chainId, address, session: { id: sessionId } }
    const solverRequest: SolverRequest = {
      request: toQuoteRequest(body, kind),
      body: Buffer.from(JSON.stringify(body)),
      quoteIds: new Map([[address, id]]),
      kind,
      deadline,
      traceparent,
    }
    try {
      const reply = await sessions.requestQuote(solver, solverRequest, controller.signal)
      return controller.signal.aborted ? { kind: 'late' } : reply
    } finally {
      clearTimeout(timer)
    }
  }

  return async (text) => {
    const message: ReplicaMessage = JSON.parse(text)
    switch (message.type) {
      case 'quoteRequest':
        return JSON.stringify(await requestQuote(message))
      case 'results':
        for (const { sessionId, id, result } of message.results)
          sessions.reportResult({ session: { id: sessionId } }, id, result)
        return '{}'
      case 'ping':
        return '{}'
    }
  }
}
