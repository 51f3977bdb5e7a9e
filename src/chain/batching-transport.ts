import { type HttpTransport, type HttpTransportConfig, http } from 'viem'
import { BatchRefusedError } from './batch-answer.js'
import type { NodeFetch } from './node-fetch.js'

/** Calls in one HTTP request, by step; a node that refuses as many gets fewer. */
const BATCH_CALLS = [50, 10, 1] as const
const SINGLE_CALLS = BATCH_CALLS.length - 1
/** How long no larger batches are tried after a refusal. */
const LARGE_BATCH_PAUSE_MS = 10 * 60_000

/** A transport, and what its answers show of the node. */
export interface BatchingTransport {
  readonly transport: HttpTransport
  /** Whether batches of some size are sent. */
  readonly takesBatches: () => boolean
}

type BatchingConfig = Omit<HttpTransportConfig, 'batch' | 'fetchFn'>

/**
 * Builds a transport that sends the calls of one turn of the event loop as JSON-RPC batches. When the node refuses a
 * batch, its calls are repeated in smaller ones, and as single calls in the end. So no call fails because it was in a batch.
 */
export function createBatchingTransport(
  url: string,
  nodeFetch: NodeFetch,
  config: BatchingConfig,
): BatchingTransport {
  const limit = createBatchLimit()
  const transports = BATCH_CALLS.map((batchSize) =>
    http(url, { ...config, fetchFn: nodeFetch.fetch, batch: batchSize > 1 && { batchSize } }),
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
            const refusal = refusalIn(error)
            if (refusal === undefined) throw error
            limit.refused(step, refusal.calls)
          }
        }
      }
      return { ...first, request }
    },
    takesBatches: () => limit.step() < SINGLE_CALLS,
  }
}

/** Decides which size of batches a node gets; the largest is tried again after a while. */
function createBatchLimit() {
  let step = 0
  let refusedAt = 0
  return {
    step() {
      if (step > 0 && performance.now() - refusedAt > LARGE_BATCH_PAUSE_MS) step = 0
      return step
    },
    /** @param calls the number of calls in the refused batch */
    refused(at: number, calls: number) {
      const next = BATCH_CALLS.findIndex((size, index) => index > at && size < calls)
      step = Math.max(step, next === -1 ? SINGLE_CALLS : next)
      refusedAt = performance.now()
    },
  }
}

/** Finds a refused batch among the causes of viem's errors. */
function refusalIn(error: unknown): BatchRefusedError | undefined {
  if (error instanceof BatchRefusedError) return error
  return error instanceof Error ? refusalIn(error.cause) : undefined
}
