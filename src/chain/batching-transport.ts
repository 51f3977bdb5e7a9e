import { type HttpTransport, type HttpTransportConfig, http } from 'viem'
import { BatchRefusedError } from './batch-answer.js'
import type { NodeFetch } from './node-fetch.js'

/** Calls in one HTTP request, by step. A node that rejects a batch gets smaller ones. */
const BATCH_CALLS = [50, 10, 1] as const
const SINGLE_CALLS = BATCH_CALLS.length - 1
/** How long smaller batches are sent after a rejection. */
const LARGE_BATCH_PAUSE_MS = 10 * 60_000

/** A transport that adapts the size of its batches to the node. */
export interface BatchingTransport {
  readonly transport: HttpTransport
  /** Whether batches of some size are sent. */
  readonly takesBatches: () => boolean
}

type BatchingConfig = Omit<HttpTransportConfig, 'batch' | 'fetchFn'>

/**
 * Builds a transport that sends the calls of one turn of the event loop as JSON-RPC batches. When the node rejects a
 * batch, the transport repeats its calls in smaller batches, and at last as single calls. So no call fails because it was in a
 * batch.
 */
export function createBatchingTransport(
  url: string,
  nodeFetch: NodeFetch,
  config: BatchingConfig,
): BatchingTransport {
  const limit = createBatchLimit()
  const transports = BATCH_CALLS.map((batchSize) =>
    http(ownUrl(url), { ...config, fetchFn: nodeFetch.fetch, batch: batchSize > 1 && { batchSize } }),
  )
  return {
    transport(options) {
      const made = transports.map((transport) => transport(options))
      const [first] = made as [(typeof made)[number]]
      const request: typeof first.request = async (...call) => {
        for (;;) {
          const step = limit.step()
          try {
            return await (made[step] ?? first).request(...call)
          } catch (error) {
            const rejection = rejectionIn(error)
            if (rejection === undefined) throw error
            limit.reduce(step, rejection.calls)
          }
        }
      }
      return { ...first, request }
    },
    takesBatches: () => limit.step() < SINGLE_CALLS,
  }
}

let transportCount = 0

/**
 * viem puts the calls of all transports with the same URL into one batch, which one of them sends. With a fragment of its own,
 * which no request contains, each transport sends only its own calls.
 */
function ownUrl(url: string): string {
  return `${url}#${++transportCount}`
}

/** Chooses the size of batches for a node. It tries the largest size again after LARGE_BATCH_PAUSE_MS. */
function createBatchLimit() {
  let step = 0
  let rejectedAt = 0
  return {
    step() {
      if (step > 0 && performance.now() - rejectedAt > LARGE_BATCH_PAUSE_MS) step = 0
      return step
    },
    /** @param calls the number of calls in the rejected batch */
    reduce(at: number, calls: number) {
      const next = BATCH_CALLS.findIndex((size, index) => index > at && size < calls)
      step = Math.max(step, next === -1 ? SINGLE_CALLS : next)
      rejectedAt = performance.now()
    },
  }
}

/** Finds a rejected batch among the causes of viem's errors. */
function rejectionIn(error: unknown): BatchRefusedError | undefined {
  if (error instanceof BatchRefusedError) return error
  return error instanceof Error ? rejectionIn(error.cause) : undefined
}
