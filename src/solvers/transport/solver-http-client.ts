import { Agent, type Dispatcher } from 'undici'
import { MAX_REPLY_KIB } from '../../../packages/protocol/src/field-rules.js'
import type { Solver } from '../../../packages/protocol/src/solvers/solver.js'
import { CANCELLED } from '../../../packages/protocol/src/solvers/solver-result.js'
import { hasTooManyValues, shorten } from '../../../packages/protocol/src/values/text.js'
import type { CallSignal } from '../../clients/call.js'
import { createGuardedConnector, failReasonOf, ReplyTooLongError } from './endpoint-connections.js'
import type { EndpointGuard } from './endpoint-guard.js'
import type { SolverCall, SolverReply, SolverRequest } from './solver-transports.js'

/** The part of a solver that a call needs. */
export type CalledSolver = Pick<Solver, 'address' | 'endpointUrl'>

/** Calls the endpoints of solvers over keep-alive connections. */
export type SolverHttpClient = ReturnType<typeof createSolverHttpClient>

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
/** How long an idle connection stays open when the solver does not say; a new one costs several round trips. */
const KEEP_ALIVE_MS = 55_000

/**
 * Builds the client: pooled keep-alive connections, no redirects, replies of at most 64 KiB (docs/decisions.md, D10).
 *
 * A solver may close an idle connection while a request is on its way. Such a request goes once more, on a connection that
 * is opened for it and closed after it. A quote request only asks for a price, so it may arrive twice (RFC 9110, 9.2.2). A
 * request on a new connection is never repeated, so a solver gets at most one repetition for each response that it has sent.
 * @param guard checks every connection before it is opened
 * @param maxConnections the most kept connections to one origin; more calls wait for one of them
 */
export function createSolverHttpClient(guard: EndpointGuard, maxConnections: number) {
  /** The errors of kept connections that their solvers closed before any byte of the response. */
  const lost = new WeakSet<Error>()
  const options: Agent.Options = {
    connect: createGuardedConnector(guard, { maxReplyBytes: MAX_WIRE_BYTES, lost }),
    maxResponseSize: MAX_REPLY_BYTES,
    maxHeaderSize: MAX_HEADER_BYTES,
    connections: maxConnections,
    keepAliveTimeout: KEEP_ALIVE_MS,
  }
  const agent = new Agent(options)
  /** Opens a connection for each request, since another kept connection may be closed just as well. */
  const repeatAgent = new Agent({ ...options, pipelining: 0 })

  return {
    /**
     * Posts a quote request to `<endpoint>/quote`. The promise is never rejected.
     * @param signal ends the call, and drops what is left of its reply. A call that it ends resolves with `cancelled`
     * @param call without an id of the quote, the request has no `x-quote-id`
     */
    requestQuote(
      solver: CalledSolver,
      solverRequest: SolverRequest,
      signal: CallSignal,
      call: Partial<SolverCall> = {},
    ): Promise<SolverReply> {
      return new Promise((resolve) => {
        const send = (via: Agent) => {
          try {
            const { origin, pathname: path } = targetOf(solver)
            const { body } = solverRequest
            const headers = headersOf(solverRequest, call.quoteId)
            via.dispatch({ origin, path, method: 'POST', headers, body }, reader)
          } catch (error) {
            reader.onResponseError(undefined, error as Error)
          }
        }
        let isRepeated = false
        const repeat = (error: Error) => {
          if (isRepeated || !lost.has(error)) return false
          isRepeated = true
          send(repeatAgent)
          return true
        }
        const reader = new ReplyReader(resolve, signal, call, repeat)
        if (signal.aborted) return reader.skip()
        reader.listen()
        send(agent)
      })
    },
    /**
     * Counts open connections.
     * @returns a function that gives their number for a solver's endpoint
     */
    countConnections(): (solver: CalledSolver) => number {
      const kept = agent.stats
      const repeating = repeatAgent.stats
      return (solver) => {
        const { origin } = targetOf(solver)
        return Number(kept[origin]?.connected ?? 0) + Number(repeating[origin]?.connected ?? 0)
      }
    },
    async close(): Promise<void> {
      await Promise.all([agent.destroy(), repeatAgent.destroy()])
    },
  }
}

function targetOf({ endpointUrl }: CalledSolver): URL {
  return new URL(`${endpointUrl.replace(/\/$/, '')}/quote`)
}

function headersOf({ request, deadline }: SolverRequest, quoteId: string | undefined): string[] {
  const headers = [...HEADERS, 'x-request-deadline', String(deadline)]
  if (quoteId !== undefined) headers.push('x-quote-id', quoteId)
  if (request.kind === 'INDICATIVE') headers.push('x-quote-kind', 'indicative')
  return headers
}

/** The text of an error may come from the solver, such as the names in its certificate. */
const MAX_FAILURE_LENGTH = 200

/** Most chunks of a reply: 64 KiB in packets are some 50. */
const MAX_CHUNKS = 1024

/** Reads the parts of one reply from undici. */
class ReplyReader implements Dispatcher.DispatchHandler {
  readonly #chunks: Buffer[] = []
  readonly #signal: CallSignal
  readonly #call: Partial<SolverCall>
  readonly #repeat: (error: Error) => boolean
  /** Undefined after the reply. */
  #onReply: ((reply: SolverReply) => void) | undefined
  #isSent = false
  #isAborted = false
  /** The controller of the request while it is open. */
  #controller: Dispatcher.DispatchController | undefined

  /**
   * @param onReply called once
   * @param repeat sends the request again, with this reader, if its error allows that, and returns whether it does
   */
  constructor(
    onReply: (reply: SolverReply) => void,
    signal: CallSignal,
    call: Partial<SolverCall>,
    repeat: (error: Error) => boolean,
  ) {
    this.#onReply = onReply
    this.#signal = signal
    this.#call = call
    this.#repeat = repeat
  }

  /** Ends a call that has not begun. */
  skip(): void {
    this.#reply(CANCELLED)
    this.#end()
  }

  /** Lets the signal end the call from now on. */
  listen(): void {
    this.#signal.addEventListener('abort', this.#abort)
  }

  /** Ends the call. A request that is not sent yet is never sent. */
  readonly #abort = () => {
    this.#isAborted = true
    this.#reply(CANCELLED)
    this.#controller?.abort(new Error('The call was ended.'))
  }

  #end(): void {
    this.#signal.removeEventListener('abort', this.#abort)
    this.#call.onEnd?.()
  }

  onRequestStart(controller: Dispatcher.DispatchController): void {
    this.#controller = controller
    if (this.#isAborted) controller.abort(new Error('The call was ended.'))
    // The time of the solver begins with the first request. Otherwise, it could work on that one and answer a repetition at
    // once.
    else if (!this.#isSent) this.#call.onSent?.()
    this.#isSent = true
  }

  onResponseStart(_controller: unknown, status: number): void {
    // The body of a declined request is read and dropped, so that the connection can be used again.
    if (status !== 200 && status >= 200) this.#reply({ kind: 'declined', status })
  }

  onResponseData(_controller: unknown, chunk: Buffer): void {
    if (this.#onReply === undefined) return
    // Each chunk takes time of its own.
    if (this.#chunks.push(chunk) > MAX_CHUNKS) this.#controller?.abort(new ReplyTooLongError())
  }

  onResponseEnd(): void {
    this.#controller = undefined
    if (this.#onReply !== undefined) this.#reply(parseReply(this.#chunks))
    this.#end()
  }

  onResponseError(_controller: unknown, error: Error): void {
    this.#controller = undefined
    if (this.#onReply !== undefined && this.#repeat(error)) return
    this.#reply({
      kind: 'failed',
      reason: failReasonOf(error),
      message: shorten(error.message, MAX_FAILURE_LENGTH),
    })
    this.#end()
  }

  #reply(reply: SolverReply): void {
    this.#onReply?.(reply)
    this.#onReply = undefined
  }
}

function parseReply(chunks: readonly Buffer[]): SolverReply {
  const [only] = chunks
  const bytes = only !== undefined && chunks.length === 1 ? only : Buffer.concat(chunks)
  try {
    // A library may begin with a byte order mark.
    const text = bytes.toString().replace(/^\ufeff/, '')
    if (!hasTooManyValues(text)) return { kind: 'replied', body: JSON.parse(text) }
  } catch {}
  return { kind: 'invalid', reason: 'malformed' }
}
