import type { ReplicaTarget } from '../cluster/replica-client.js'
import type { ReplicaLinks } from '../cluster/replica-links.js'
import type { RemoteSession } from '../domain/solver.js'
import { REPLICA_UNREACHABLE } from '../domain/solver-result.js'
import type { SessionTransport, SolverReply } from '../solvers/solver-client.js'
import type { RelayedQuoteRequest, RelayedReply, RelayedResult, ReplicaMessage } from './replica-messages.js'

interface RemoteSessionsOptions {
  readonly links: Pick<ReplicaLinks, 'send'>
  /** Called with what came of each request: whether the other replica answered. */
  readonly onAnswered: (isAnswered: boolean) => void
  /** The clock: Unix time in milliseconds. */
  readonly now: () => number
}

/** Results for the sessions of one replica. */
interface Batch {
  readonly target: ReplicaTarget
  readonly results: RelayedResult[]
}

/** Time in which the other replica has to accept results. */
const REPORT_TIMEOUT_MS = 2000
/** The most results of one message; each takes some 150 bytes. */
const MAX_RESULTS = 200

/** Builds the transport to sessions at other replicas (docs/decisions.md, D18). */
export function createRemoteSessions({ links, onAnswered, now }: RemoteSessionsOptions): SessionTransport {
  /** Results of this turn of the event loop, by the id of the replica. */
  const unsent = new Map<string, Batch>()

  async function ask(target: ReplicaTarget, text: string, waitMs: number): Promise<RelayedReply> {
    try {
      const reply = JSON.parse(await links.send(target, text, waitMs))
      onAnswered(true)
      return reply
    } catch {
      onAnswered(false)
      return REPLICA_UNREACHABLE
    }
  }

  function sendResults(): void {
    for (const { target, results } of unsent.values())
      for (let start = 0; start < results.length; start += MAX_RESULTS) {
        const message: ReplicaMessage = {
          type: 'results',
          results: results.slice(start, start + MAX_RESULTS),
        }
        // A solver whose replica is gone has no session to read its result on.
        links.send(target, JSON.stringify(message), REPORT_TIMEOUT_MS).catch(() => {})
      }
    unsent.clear()
  }

  return {
    requestQuote({ address, remoteSession }, solverRequest, signal, listener = {}) {
      const target = targetOf(remoteSession)
      const id = solverRequest.quoteIds.get(address)
      if (target === undefined || remoteSession === undefined || id === undefined || signal.aborted) {
        listener.onEnd?.()
        return Promise.resolve(signal.aborted ? CANCELLED : REPLICA_UNREACHABLE)
      }
      const { kind, deadline, traceparent, body } = solverRequest
      const waitMs = Math.max(1, deadline - now())
      const head: Omit<RelayedQuoteRequest, 'body'> = {
        type: 'quoteRequest',
        sessionId: remoteSession.id,
        solver: address,
        id,
        kind,
        deadline,
        traceparent,
        waitMs,
      }
      const text = `${JSON.stringify(head).slice(0, -1)},"body":${Buffer.from(body).toString()}}`
      return new Promise((resolve) => {
        /** The reply at the end of the round, if none comes before. */
        let atEnd: SolverReply = REPLICA_UNREACHABLE
        const end = (reply: SolverReply) => {
          signal.removeEventListener('abort', onAbort)
          resolve(reply)
          listener.onEnd?.()
        }
        const onAbort = () => end(atEnd)
        signal.addEventListener('abort', onAbort)
        void ask(target, text, waitMs).then((reply) => {
          if (signal.aborted) return
          // The wait goes on until the round ends: its limit decides what a late solver means.
          if (reply.kind === 'late') atEnd = CANCELLED
          else end(reply)
        })
        listener.onSent?.()
      })
    },
    reportResult({ remoteSession }, id, result) {
      const target = targetOf(remoteSession)
      if (target === undefined || remoteSession === undefined) return
      if (unsent.size === 0) setImmediate(sendResults)
      const batch = unsent.get(target.replicaId) ?? { target, results: [] }
      unsent.set(target.replicaId, batch)
      batch.results.push({ sessionId: remoteSession.id, id, result })
    },
  }
}

const CANCELLED: SolverReply = { kind: 'cancelled' }

/** Where the holder of a session is asked; undefined when it cannot be. */
export function targetOf(session: RemoteSession | undefined): ReplicaTarget | undefined {
  if (session?.replicaUrl === undefined) return undefined
  return { replicaId: session.replicaId, url: session.replicaUrl }
}
