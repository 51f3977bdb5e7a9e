import { once } from 'node:events'
import { Agent, type ClientRequest, request as httpRequest, type IncomingMessage } from 'node:http'
import { setTimeout as pause } from 'node:timers/promises'
import type { TestChain } from '../../support/chain/chain.js'
import type { Replica, ReplicaProcesses, ReplicaState } from '../../support/replicas/replica-processes.js'
import { quoteRequest } from '../../support/solvers/quote-request.js'

export type QuoteLoad = ReturnType<typeof startQuoteLoad>

interface Answer {
  readonly replica: number
  readonly status: number
  /** The error, when the status is not 200. */
  readonly text: string
  /** When it came, in milliseconds of `performance.now()`. */
  readonly at: number
  readonly durationMs: number
}

/** An attempt without an answer, after which the caller asked the next replica. */
export interface Break {
  readonly replica: number
  readonly code: string
  /** The state of the replica at that moment. */
  readonly state: ReplicaState
  /** Whether the connection had brought an answer before. */
  readonly isReused: boolean
  /** How long the connection had been silent then. */
  readonly idleMs: number
}

const CALLERS = 6
const PAUSE_MS = 150

/**
 * Callers that request quotes all the time, each from one replica after the other. As with a load balancer, a
 * caller whose connection fails asks the next replica.
 */
export function startQuoteLoad(fleet: ReplicaProcesses, chain: TestChain) {
  const agent = new Agent({ keepAlive: true })
  const body = JSON.stringify(quoteRequest(chain))
  const path = `/v1/${chain.chainId}/quote`
  const answers: Answer[] = []
  const breaks: Break[] = []
  /** When an answer last came on a connection. */
  const usedAt = new WeakMap<object, number>()
  let unanswered = 0
  let isStopping = false

  async function ask(replica: Replica): Promise<boolean> {
    const start = performance.now()
    const headers = { 'content-type': 'application/json', 'content-length': Buffer.byteLength(body) }
    const request = httpRequest(`${replica.url}${path}`, { agent, method: 'POST', headers }).end(body)
    try {
      const { status, text } = await answerOf(request)
      const at = performance.now()
      if (request.socket !== null) usedAt.set(request.socket, at)
      answers.push({ replica: replica.index, status, text, at, durationMs: at - start })
      return true
    } catch (error) {
      const { code = String(error) } = error as NodeJS.ErrnoException
      const idleMs = start - (usedAt.get(request.socket ?? {}) ?? start)
      breaks.push({
        replica: replica.index,
        code,
        state: replica.state(),
        isReused: request.reusedSocket,
        idleMs,
      })
      return false
    }
  }

  async function askUntilAnswered(first: Replica): Promise<void> {
    let replica = first
    do {
      if (await ask(replica)) return
      replica = fleet.after(replica)
    } while (replica !== first)
    unanswered++
  }

  async function call(first: Replica): Promise<void> {
    for (let replica = first; !isStopping; replica = fleet.after(replica)) {
      await askUntilAnswered(replica)
      await pause(PAUSE_MS)
    }
  }

  const { replicas } = fleet
  const callers = Array.from({ length: CALLERS }, (_, index) => {
    return call(replicas[index % replicas.length] as Replica)
  })

  return {
    answers: answers as readonly Answer[],
    breaks: breaks as readonly Break[],
    /** Quotes for which no replica was reachable. */
    unanswered: () => unanswered,
    /** The answers that came since a moment of `performance.now()`. */
    since: (start: number) => answers.filter(({ at }) => at >= start),
    /** Resolves when all calls have ended. */
    async stop(): Promise<void> {
      isStopping = true
      await Promise.all(callers)
      agent.destroy()
    },
  }
}

async function answerOf(request: ClientRequest): Promise<{ status: number; text: string }> {
  const [response]: IncomingMessage[] = await once(request, 'response')
  if (response === undefined) throw new Error('no response')
  const text = (await response.setEncoding('utf8').toArray()).join('')
  const { statusCode: status = 0 } = response
  return { status, text: status === 200 ? '' : text }
}
