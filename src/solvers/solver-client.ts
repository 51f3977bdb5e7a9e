import type { Socket } from 'node:net'
import { Agent, buildConnector, type Dispatcher } from 'undici'
import { MAX_REPLY_KIB } from '../domain/field-rules.js'
import type { Address } from '../domain/hex.js'
import type { FailReason } from '../domain/quote-record.js'
import type { Solver } from '../domain/solver.js'
import { shorten } from '../domain/text.js'
import type { EndpointGuard } from './endpoint-guard.js'
import { failReasonOf, ReplyTooLongError } from './fail-reason.js'

/** The result of a call to a solver. */
export type SolverReply =
  | { readonly kind: 'replied'; readonly body: unknown }
  | { readonly kind: 'declined'; readonly status: number }
  | { readonly kind: 'malformed' }
  | { readonly kind: 'failed'; readonly reason: FailReason; readonly message: string }

/** The request to all solvers of a quote. */
export interface SolverRequest {
  /** JSON text in UTF-8. */
  readonly body: Uint8Array
  /** Each solver's id of the quote (docs/decisions.md, D15); empty when no record is kept. */
  readonly quoteIds: ReadonlyMap<Address, string>
  /** Whether the offers are only indicative, so that no one can deposit. Solvers see this in `x-quote-kind`. */
  readonly isIndicative?: boolean
}

/** The part of a solver that a call needs. */
export type CalledSolver = Pick<Solver, 'address' | 'endpointUrl'>

/** The listener of one call. */
export interface CallListener {
  /** Called when the request is written to a connection; not called when there is none in time. */
  onSent(): void
  /** Called once, with a reply or an error; not called after the call was ended. */
  onReply(reply: SolverReply): void
  /** Called once, last, when the connection is free or closed. */
  onEnd(): void
}

/** Calls solvers over keep-alive connections. */
export interface SolverClient {
  /**
   * Posts a quote request to `<endpoint>/quote`.
   * @returns a function that ends the call and drops the rest of its reply
   */
  requestQuote(solver: CalledSolver, solverRequest: SolverRequest, listener: CallListener): () => void
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
/** The limit of a whole reply on the wire, with its framing and with informational responses before it. */
const MAX_WIRE_BYTES = 2 * (MAX_REPLY_BYTES + MAX_HEADER_BYTES)
/** The text of an error may come from the solver, such as the names in its certificate. */
const MAX_FAILURE_LENGTH = 200
const CONNECT_TIMEOUT_MS = 5000
/** How long an idle connection stays open when the solver does not say; a new one costs several round trips. */
const KEEP_ALIVE_MS = 55_000

/**
 * Prepares the request to all solvers of a quote.
 * @param quoteIds sent in a header, so that a solver's developer can find the result of its offer
 */
export function createSolverRequest(text: string, quoteIds: ReadonlyMap<Address, string>): SolverRequest {
  return { body: Buffer.from(text), quoteIds }
}

/**
 * Builds the client: pooled keep-alive connections, no redirects, replies of at most 64 KiB (docs/decisions.md, D10).
 * @param guard checks every connection before it is opened
 * @param maxConnections the most connections to one origin; more calls wait for one of them
 */
export function createSolverClient(guard: EndpointGuard, maxConnections: number): SolverClient {
  const agent = new Agent({
    connect: createGuardedConnector(guard),
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
    requestQuote(solver, { body, quoteIds, isIndicative }, listener) {
      const reader = new ReplyReader(listener)
      const headers = [...HEADERS]
      const quoteId = quoteIds.get(solver.address)
      if (quoteId !== undefined) headers.push('x-quote-id', quoteId)
      if (isIndicative) headers.push('x-quote-kind', 'indicative')
      try {
        const { origin, path } = targetOf(solver)
        agent.dispatch({ origin, path, method: 'POST', headers, body }, reader)
      } catch (error) {
        reader.onResponseError(undefined, error as Error)
      }
      return () => reader.end()
    },
    countConnections() {
      const { stats } = agent
      return (solver) => Number(stats[targetOf(solver).origin]?.connected ?? 0)
    },
    close: () => agent.destroy(),
  }
}

/** Reads the parts of one reply from undici. */
class ReplyReader implements Dispatcher.DispatchHandler {
  readonly #chunks: Buffer[] = []
  readonly #listener: CallListener
  #isWanted = true
  /** The controller of the request while it is open. */
  #controller: Dispatcher.DispatchController | undefined

  constructor(listener: CallListener) {
    this.#listener = listener
  }

  /** Ends the call. A request that is not sent yet is never sent. */
  end(): void {
    this.#isWanted = false
    this.#controller?.abort(new Error('The call was ended.'))
  }

  onRequestStart(controller: Dispatcher.DispatchController): void {
    this.#controller = controller
    if (this.#isWanted) this.#listener.onSent()
    else controller.abort(new Error('The call was ended.'))
  }

  onResponseStart(_controller: unknown, status: number): void {
    // The body of a declined request is read and dropped, so that the connection can be used again.
    if (status !== 200 && status >= 200) this.#reply({ kind: 'declined', status })
  }

  onResponseData(_controller: unknown, chunk: Buffer): void {
    if (this.#isWanted) this.#chunks.push(chunk)
  }

  onResponseEnd(): void {
    this.#controller = undefined
    if (this.#isWanted) this.#reply(parseReply(this.#chunks))
    this.#listener.onEnd()
  }

  onResponseError(_controller: unknown, error: Error): void {
    this.#controller = undefined
    this.#reply({
      kind: 'failed',
      reason: failReasonOf(error),
      message: shorten(error.message, MAX_FAILURE_LENGTH),
    })
    this.#listener.onEnd()
  }

  #reply(reply: SolverReply): void {
    if (!this.#isWanted) return
    this.#isWanted = false
    this.#listener.onReply(reply)
  }
}

function parseReply(chunks: readonly Buffer[]): SolverReply {
  const [only] = chunks
  const bytes = only !== undefined && chunks.length === 1 ? only : Buffer.concat(chunks)
  try {
    return { kind: 'replied', body: JSON.parse(bytes.toString()) }
  } catch {
    return { kind: 'malformed' }
  }
}

function createGuardedConnector(guard: EndpointGuard): buildConnector.connector {
  const connectorFor = (protocol: string) =>
    buildConnector({ lookup: guard.lookupFor(protocol), timeout: CONNECT_TIMEOUT_MS })
  const connectTls = connectorFor('https:')
  const connectPlain = connectorFor('http:')
  return (options, callback) => {
    try {
      guard.assertDiallable(options.protocol, options.hostname)
    } catch (error) {
      callback(error as Error, null)
      return
    }
    const connect = options.protocol === 'https:' ? connectTls : connectPlain
    connect(options, (...[error, socket]) => {
      if (error !== null) return callback(error, null)
      limitReplies(socket)
      callback(null, socket)
    })
  }
}

/**
 * Ends an endless reply. It limits the bytes outside of body and headers, which undici does not count: informational
 * responses, chunk extensions, blanks. A reply begins with the first bytes after a request was written.
 */
function limitReplies(socket: Socket): void {
  let written = -1
  let read = socket.bytesRead
  let beginning = read
  socket.on('readable', () => {
    if (socket.bytesWritten !== written) beginning = read
    written = socket.bytesWritten
    read = socket.bytesRead
    if (read - beginning > MAX_WIRE_BYTES) socket.destroy(new ReplyTooLongError())
  })
}
