import { callsIn, expectAnswers } from './batch-answer.js'

/** Time limit of an answer without bytes, and the number of bytes that extend the limit by 1 ms. */
const FIRST_MS = 5000
const BYTES_PER_MS = 64
/** Structural characters of JSON that every answer may have, and the number of bytes that allow one more. */
const FIRST_TOKENS = 50_000
const BYTES_PER_TOKEN = 10

/** The body of a node's answer is too slow, or costs too much time to parse. */
export class BadBodyError extends Error {
  override readonly name = 'BadBodyError'
}

/** `fetch` for JSON-RPC nodes. */
export interface NodeFetch {
  /** The body of the answer to a batch fails with BatchRefusedError when the node does not answer each of its calls. */
  readonly fetch: typeof fetch
  /** Cancels all pending requests, and rejects new ones. */
  close(): void
}

/**
 * Builds a `fetch` that bounds what a node can do with the body of its answer, which viem's time-out does not cover.
 * - Time: 5 s, and one more second for each 64 KB. So a body that arrives in small pieces ends.
 * - Values: a node's JSON has a structural character for every 17 to 35 bytes. A body of empty objects has one for
 *   every byte. Compressed, it is a thousandth of its size, and it blocks the event loop for seconds.
 */
export function createNodeFetch(): NodeFetch {
  /** Controllers of the pending requests. No signal outlives its request, because Node 20 keeps its dependent signals. */
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

/** @param onEnd called when the body is complete */
function boundBody(request: AbortController, onEnd: () => void): TransformStream<Uint8Array, Uint8Array> {
  const start = performance.now()
  let bytes = 0
  let tokens = 0
  let timer: NodeJS.Timeout

  function watch(): void {
    const leftMs = start + FIRST_MS + bytes / BYTES_PER_MS - performance.now()
    if (leftMs <= 0) request.abort(new BadBodyError('the answer of the node is too slow'))
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
