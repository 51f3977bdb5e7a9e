import { callsIn, expectAnswers } from './batch-answer.js'

/** How long an answer may take without its bytes, and how many bytes a millisecond give it more time. */
const FIRST_MS = 5000
const BYTES_PER_MS = 64
/** Structural characters of JSON that an answer may have, and how many bytes allow it one more. */
const FIRST_TOKENS = 50_000
const BYTES_PER_TOKEN = 10

/** A node's answer has come too slowly, or is made to cost much time to read. */
export class BadBodyError extends Error {
  override readonly name = 'BadBodyError'
}

/** `fetch` for JSON-RPC nodes. */
export interface NodeFetch {
  /** The body of the answer to a batch fails with BatchRefusedError when the node does not answer each of its calls. */
  readonly fetch: typeof fetch
  /** Ends all requests under way, and lets no other begin. */
  close(): void
}

/**
 * Builds a `fetch` that bounds what a node can do with the body of its answer, which viem's time-out does not cover.
 * - Time: 5 s, and one more for each 64 KB, so a body that comes in drops ends.
 * - Values: a node's JSON has a structural character for every 17 to 35 bytes. A body of empty objects has one for every
 *   byte; it is a thousandth of its size on the wire, and holds up the event loop for seconds.
 */
export function createNodeFetch(): NodeFetch {
  /** Of the requests under way. No signal lasts longer than a request: Node 20 keeps what depends on it for as long. */
  const underWay = new Set<AbortController>()
  let isClosed = false
  return {
    fetch: async (input, init) => {
      const request = new AbortController()
      const onEnd = () => underWay.delete(request)
      underWay.add(request)
      request.signal.addEventListener('abort', onEnd, { once: true })
      if (isClosed) request.abort(CLOSING)
      const signal = init?.signal ? AbortSignal.any([request.signal, init.signal]) : request.signal
      const response = await fetch(input, { ...init, signal }).catch((error) => {
        onEnd()
        throw error
      })
      if (response.body === null) {
        onEnd()
        return response
      }
      const { status, statusText, headers } = response
      const bounded = response.body.pipeThrough(boundBody(request, onEnd))
      const calls = callsIn(init?.body)
      const answers = calls > 0 ? expectAnswers(calls, status) : undefined
      const body = answers === undefined ? bounded : bounded.pipeThrough(answers)
      return new Response(body, { status, statusText, headers })
    },
    close() {
      isClosed = true
      for (const request of underWay) request.abort(CLOSING)
    },
  }
}

const CLOSING = new BadBodyError('the service is closing')

/** @param onEnd called when the body has come whole */
function boundBody(request: AbortController, onEnd: () => void): TransformStream<Uint8Array, Uint8Array> {
  const start = performance.now()
  let bytes = 0
  let tokens = 0
  let timer: NodeJS.Timeout

  function watch(): void {
    const leftMs = start + FIRST_MS + bytes / BYTES_PER_MS - performance.now()
    if (leftMs <= 0) request.abort(new BadBodyError('the answer of the node comes too slowly'))
    else timer = setTimeout(watch, leftMs).unref()
  }

  return new TransformStream({
    start: watch,
    transform(chunk, controller) {
      bytes += chunk.length
      tokens += countTokens(chunk)
      if (tokens > FIRST_TOKENS + bytes / BYTES_PER_TOKEN) {
        clearTimeout(timer)
        const error = new BadBodyError('the answer of the node has far more values than its size allows')
        request.abort(error)
        controller.error(error)
      } else controller.enqueue(chunk)
    },
    flush() {
      clearTimeout(timer)
      onEnd()
    },
  })
}

const STRUCTURAL = new Set([...'{}[],:'].map((character) => character.charCodeAt(0)))
const IS_STRUCTURAL = Uint8Array.from({ length: 256 }, (_, byte) => Number(STRUCTURAL.has(byte)))

function countTokens(chunk: Uint8Array): number {
  let count = 0
  for (const byte of chunk) count += IS_STRUCTURAL[byte] ?? 0
  return count
}
