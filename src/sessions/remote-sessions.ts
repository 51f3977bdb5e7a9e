import type { RemoteSession } from '../../packages/protocol/src/solvers/solver.js'
import { CANCELLED, REPLICA_UNREACHABLE } from '../../packages/protocol/src/solvers/solver-result.js'
import { inParts } from '../../packages/protocol/src/values/parts.js'
import type { InstanceContext, ReplicaIdentity } from '../cluster/instance.js'
import { createReplicaClient, type ReplicaTarget } from '../cluster/replica-client.js'
import { createReplicaLinks, type ReplicaLinks } from '../cluster/replica-links.js'
import type { SolverDirectory } from '../solvers/registry/solver-directory.js'
import type { SessionTransport, SolverReply, SolverRequest } from '../solvers/transport/solver-transports.js'
import type {
  RelayedQuoteRequest,
  RelayedReply,
  RelayedResult,
  RelayedSolver,
  ReplicaMessage,
} from './relayed-requests.js'

/** Starts to follow the replicas that hold sessions, to ask the solvers of those (docs/decisions.md, D18). */
export function openReplicaRelay(
  { config, metrics, log, clock }: InstanceContext,
  { key }: ReplicaIdentity,
  directory: SolverDirectory,
) {
  const links = createReplicaLinks(
    (target) => createReplicaClient(target, key, clock),
    directory.setReplicaAsked,
    log,
    clock,
  )
  const follow = () =>
    links.follow(
      config.chains
        .flatMap(({ chainId }) => directory.registered(chainId))
        .flatMap(({ remoteSession }) => targetOf(remoteSession) ?? []),
    )
  directory.addListener(follow)
  follow()
  const sessions = createRemoteSessions(
    links,
    (isAnswered) => metrics.replicaRequests.inc({ result: isAnswered ? 'answered' : 'failed' }),
    clock.now,
  )
  return { sessions, countDown: links.countDown, close: links.close }
}

/** A solver of a batch, and what takes its reply. */
interface BatchedSolver extends RelayedSolver {
  onReply(reply: RelayedReply['reply']): void
}

/** What is sent to one replica at the end of this turn of the event loop. */
interface Batch {
  readonly target: ReplicaTarget
  /** The solvers of each round. */
  readonly rounds: Map<SolverRequest, BatchedSolver[]>
  readonly results: RelayedResult[]
}

/** How much later than the end of a round an answer still shows that the way to its replica is open. */
const LATE_ANSWER_MS = 1000
/** Time in which the other replica has to accept results. */
const REPORT_TIMEOUT_MS = 2000
/** The most solvers or results of one message; each takes some 150 bytes. */
const MAX_ITEMS = 200

/**
 * Builds the transport to sessions at other replicas (docs/decisions.md, D18).
 * @param onAnswered called with what came of each request to a solver: whether the other replica answered
 * @param now the clock: Unix time in milliseconds
 */
function createRemoteSessions(
  links: ReplicaLinks,
  onAnswered: (isAnswered: boolean) => void,
  now: () => number,
): SessionTransport {
  /** By the id of the replica. */
  const batches = new Map<string, Batch>()

  function batchFor(target: ReplicaTarget): Batch {
    if (batches.size === 0) setImmediate(sendAll)
    const batch = batches.get(target.replicaId) ?? { target, rounds: new Map(), results: [] }
    batches.set(target.replicaId, batch)
    return batch
  }

  function sendAll(): void {
    const all = [...batches.values()]
    batches.clear()
    for (const { target, rounds, results } of all) {
      for (const [solverRequest, solvers] of rounds)
        for (const part of inParts(solvers, MAX_ITEMS)) void ask(target, solverRequest, part)
      for (const part of inParts(results, MAX_ITEMS)) report(target, part)
    }
  }

  async function ask(
    target: ReplicaTarget,
    solverRequest: SolverRequest,
    solvers: readonly BatchedSolver[],
  ): Promise<void> {
    const waiting = new Map(solvers.map((solver) => [solver.id, solver]))
    const waitMs = Math.max(1, solverRequest.deadline - now())
    const body = toText(solverRequest, solvers, waitMs)
    const timeoutMs = waitMs + LATE_ANSWER_MS
    function onLine(line: string): void {
      const { id, reply }: RelayedReply = JSON.parse(line)
      waiting.get(id)?.onReply(reply)
      if (waiting.delete(id)) onAnswered(true)
    }
    await links.send(target, { body, timeoutMs, onLine }).catch(() => {})
    for (const { onReply } of waiting.values()) {
      onAnswered(false)
      onReply(REPLICA_UNREACHABLE)
    }
  }

  function report(target: ReplicaTarget, results: readonly RelayedResult[]): void {
    const message: ReplicaMessage = { type: 'results', results }
    const request = { body: JSON.stringify(message), timeoutMs: REPORT_TIMEOUT_MS, onLine() {} }
    // A solver whose replica is gone has no session to read its result on.
    links.send(target, request).catch(() => {})
  }

  return {
    requestQuote({ address, remoteSession }, solverRequest, signal, call) {
      const target = targetOf(remoteSession)
      if (target === undefined || remoteSession === undefined || signal.aborted) {
        call.onEnd?.()
        return Promise.resolve(signal.aborted ? CANCELLED : REPLICA_UNREACHABLE)
      }
      return new Promise((resolve) => {
        /** The reply at the end of the round, if none comes before. */
        let atEnd: SolverReply = REPLICA_UNREACHABLE
        let hasEnded = false
        const end = (reply: SolverReply) => {
          if (hasEnded) return
          hasEnded = true
          signal.removeEventListener('abort', onAbort)
          resolve(reply)
          call.onEnd?.()
        }
        const onAbort = () => end(atEnd)
        signal.addEventListener('abort', onAbort)
        const { rounds } = batchFor(target)
        const solvers = rounds.get(solverRequest) ?? []
        rounds.set(solverRequest, solvers)
        solvers.push({
          sessionId: remoteSession.id,
          address,
          id: call.quoteId,
          onReply(reply) {
            // The wait goes on until the round ends: its limit decides what a late solver means.
            if (reply.kind === 'late') atEnd = CANCELLED
            else end(reply)
          },
        })
        call.onSent?.()
      })
    },
    reportResult({ remoteSession }, id, result) {
      const target = targetOf(remoteSession)
      if (target === undefined || remoteSession === undefined) return
      batchFor(target).results.push({ sessionId: remoteSession.id, id, result })
    },
  }
}

/** Where the holder of a session is asked; undefined when it cannot be. */
function targetOf(session: RemoteSession | undefined): ReplicaTarget | undefined {
  if (session?.replicaUrl === undefined) return undefined
  return { replicaId: session.replicaId, url: session.replicaUrl }
}

/** The JSON text of a `RelayedQuoteRequest`. The request to solvers is JSON text already. */
function toText(
  { request, deadline, body }: SolverRequest,
  solvers: readonly RelayedSolver[],
  waitMs: number,
): string {
  const head: Omit<RelayedQuoteRequest, 'body'> = {
    type: 'quoteRequest',
    solvers: solvers.map(({ sessionId, address, id }) => ({ sessionId, address, id })),
    kind: request.kind,
    deadline,
    waitMs,
  }
  return `${JSON.stringify(head).slice(0, -1)},"body":${Buffer.from(body).toString()}}`
}
