import { Agent, type Dispatcher } from 'undici'
import { MAX_REPLY_KIB } from '../domain/field-rules.js'
import type { Address } from '../domain/hex.js'
import type { Solver } from '../domain/solver.js'
import type { HttpFailReason } from '../domain/solver-result.js'
import { shorten } from '../domain/text.js'
import type { EndpointGuard } from './endpoint-guard.js'
import { failReasonOf } from './fail-reason.js'
import { createGuardedConnector } from './guarded-connector.js'
import type { CallListener, SolverRequest } from './solver-client.js'

/** The part of a solver that a call needs. */
export type CalledSolver = Pick<Solver, 'address' | 'endpointUrl'>

/** What came of a call over HTTP: a `SolverReply`. */
export type HttpReply =
  | { readonly kind: 'replied'; readonly body: unknown }
  | { readonly kind: 'declined'; readonly status: number }
  | { readonly kind: 'invalid'; readonly reason: 'malformed' }
  | { readonly kind: 'failed'; readonly reason: HttpFailReason; readonly message: string }
  | { readonly kind: 'cancelled' }

/** Calls the endpoints of solvers over keep-alive connections. */
export interface SolverHttpClient {
  /**
   * Posts a quote request to `<endpoint>/quote`. The promise is never rejected.
   * @param signal ends the call, and drops what is left of its reply. A call that it ends resolves with `cancelled`
   */
  requestQuote(
    solver: CalledSolver,
    solverRequest: SolverRequest,
    signal: AbortSignal,
    listener?: CallListener,
  ): Promise<HttpReply>
  /**
   * Counts open connections.
   * @returns a function that gives their number for a solver's endpoint
   */
  countConnections(): (solver: CalledSolver) => number
  close(): Promise<void>
}

interface Target {
  readonly origin: string
  readonly path: string
}

/** The headers of every request to a solver; names and values alternate. */
const HEADERS = [
  'content-type',
  'application/json',
  'accept',
  'application/json',
  'accept-encoding',
  'identity',
]
const MAX_REPLY_BYTES = MAX_REPLY_KIB * 1024
const MAX_HEADER_BYTES = 16 * 1024
const MAX_WIRE_BYTES = 2 * (MAX_REPLY_BYTES + MAX_HEADER_BYTES)
/** The text of an error may come from the solver, such as the names in its certificate. */
const MAX_FAILURE_LENGTH = 200
/** How long an idle connection stays open when the solver does not say; a new one costs several round trips. */
const KEEP_ALIVE_MS = 55_000

/**
 * Builds the client: pooled keep-alive connections, no redirects, replies of at most 64 KiB (docs/decisions.md, D10).
 * @param guard checks every connection before it is opened
 * @param maxConnections the most connections to one origin; more calls wait for one of them
 */
export function createSolverHttpClient(guard: EndpointGuard, maxConnections: number): SolverHttpClient {
  const agent = new Agent({
    connect: createGuardedConnector(guard, MAX_WIRE_BYTES),
    maxResponseSize: MAX_REPLY_BYTES,
    maxHeaderSize: MAX_HEADER_BYTES,
    connections: maxConnections,
    keepAliveTimeout: KEEP_ALIVE_MS,
  })
  const targets = new WeakMap<CalledSolver, Target>()

  function targetOf(solver: CalledSolver): Target {
    const known = targets.get(solver)
    if (known !== undefined) return known
    const url = new URL(`${solver.endpointUrl.replace(/\/$/, '')}/quote`)
    const target = { origin: url.origin, path: url.pathname }
    targets.set(solver, target)
    return target
  }

  return {
    requestQuote(solver, solverRequest, signal, listener = {}) {
      return new Promise((resolve) => {
        const reader = new ReplyReader(resolve, listener)
        if (signal.aborted) return reader.skip()
        signal.addEventListener('abort', reader)
        try {
          const { origin, path } = targetOf(solver)
          const { body } = solverRequest
          const headers = headersOf(solverRequest, solver.address)
          agent.dispatch({ origin, path, method: 'POST', headers, body }, reader)
        } catch (error) {
          reader.onResponseError(undefined, error as Error)
        }
      })
    },
    countConnections() {
      const { stats } = agent
      return (solver) => Number(stats[targetOf(solver).origin]?.connected ?? 0)
    },
    close: () => agent.destroy(),
  }
}

function headersOf({ request, quoteIds, deadline, traceparent }: SolverRequest, solver: Address): string[] {
  const headers = [...HEADERS, 'x-request-deadline', String(deadline)]
  const quoteId = quoteIds.get(solver)
  if (quoteId !== undefined) headers.push('x-quote-id', quoteId)
  if (request.kind === 'INDICATIVE') headers.push('x-quote-kind', 'indicative')
  if (traceparent !== undefined) headers.push('traceparent', traceparent)
  return headers
}

/** Reads the parts of one reply from undici. */
class ReplyReader implements Dispatcher.DispatchHandler {
  readonly #chunks: Buffer[] = []
  readonly #listener: CallListener
  /** Undefined after the reply. */
  #resolve: ((reply: HttpReply) => void) | undefined
  #isAborted = false
  /** The controller of the request while it is open. */
  #controller: Dispatcher.DispatchController | undefined

  constructor(resolve: (reply: HttpReply) => void, listener: CallListener) {
    this.#resolve = resolve
    this.#listener = listener
  }

  /** Ends a call that has not begun. */
  skip(): void {
    this.#reply({ kind: 'cancelled' })
    this.#listener.onEnd?.()
  }

  /** Ends the call when its signal is aborted. A request that is not sent yet is never sent. */
  handleEvent(): void {
    this.#isAborted = true
    this.#reply({ kind: 'cancelled' })
    this.#controller?.abort(new Error('The call was ended.'))
  }

  onRequestStart(controller: Dispatcher.DispatchController): void {
    this.#controller = controller
    if (this.#isAborted) controller.abort(new Error('The call was ended.'))
    else this.#listener.onSent?.()
  }

  onResponseStart(_controller: unknown, status: number): void {
    // The body of a declined request is read and dropped, so that the connection can be used again.
    if (status !== 200 && status >= 200) this.#reply({ kind: 'declined', status })
  }

  onResponseData(_controller: unknown, chunk: Buffer): void {
    if (this.#resolve !== undefined) this.#chunks.push(chunk)
  }

  onResponseEnd(): void {
    this.#controller = undefined
    if (this.#resolve !== undefined) this.#reply(parseReply(this.#chunks))
    this.#listener.onEnd?.()
  }

  onResponseError(_controller: unknown, error: Error): void {
    this.#controller = undefined
    this.#reply({
      kind: 'failed',
      reason: failReasonOf(error),
      message: shorten(error.message, MAX_FAILURE_LENGTH),
    })
    this.#listener.onEnd?.()
  }

  #reply(reply: HttpReply): void {
    this.#resolve?.(reply)
    this.#resolve = undefined
  }
}

function parseReply(chunks: readonly Buffer[]): HttpReply {
  const [only] = chunks
  const bytes = only !== undefined && chunks.length === 1 ? only : Buffer.concat(chunks)
  try {
    return { kind: 'replied', body: JSON.parse(bytes.toString()) }
  } catch {
    return { kind: 'invalid', reason: 'malformed' }
  }
}
