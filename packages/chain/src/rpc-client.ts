import { systemClock } from '../../protocol/src/clock.js'
import { isNodeAnswer } from '../../protocol/src/node/node-answer.js'
import { hasRun, lost, RpcError } from './json-rpc.js'
import {
  createRpcEndpoint,
  type EndpointTrouble,
  type RpcEndpointOptions,
  type RpcRequest,
  toPublicClient,
  troubleOf,
} from './rpc-endpoint.js'

/** The JSON-RPC endpoints of one chain. */
export type RpcClient = ReturnType<typeof createRpcClient>

/**
 * Builds the client of a chain's JSON-RPC endpoints. A revert is an answer; after any other error the next endpoint is called. When all
 * fail, an error that a node has answered counts more than one without an answer.
 * @param urls http, https, ws or wss URLs, in order of preference; at least one
 */
export function createRpcClient(urls: readonly string[], options: RpcEndpointOptions = {}) {
  const endpoints = urls.map((url) => createRpcEndpoint(url, options))
  const { monotonic } = options.clock ?? systemClock
  const order = createEndpointOrder(endpoints, monotonic, troubleOf)

  const request: RpcRequest = (...call) =>
    order.inOrder(
      (endpoint) => endpoint.request(...call),
      (error, endpoint) => {
        if (!(error instanceof RpcError) || hasRun(error)) throw error
        if (error.kind !== 'answered') order.markFailed(endpoint)
      },
    )

  return {
    /** Calls the endpoints in order until one answers; those that gave no answer come last for some time. */
    request,
    /** A client of viem that makes its calls by `request`. */
    client: toPublicClient(request),
    /** The endpoints, in the order of the URLs. */
    endpoints,
    /** The order in which they are called. */
    order,
    /** Fails the calls under way, and closes what is open. */
    close(): void {
      for (const { close } of endpoints) close()
    },
  }
}

/** How long an endpoint that gave no answer comes after the others. */
const AVOID_MS = 10_000

/** Builds the order in which the endpoints of a chain are called. @param now milliseconds that never go back */
export function createEndpointOrder<E>(
  configured: readonly E[],
  now: () => number,
  troubleOf: (endpoint: E) => EndpointTrouble | undefined,
) {
  const answeredAt = new Map<E, number>()
  const failedAt = new Map<E, number>()
  /** The first one to have failed comes first among those that come last, so that each has its turn when all fail. */
  function lateness(endpoint: E): number {
    const failed = failedAt.get(endpoint) ?? Number.NEGATIVE_INFINITY
    const isLate = troubleOf(endpoint) !== undefined || now() - failed < AVOID_MS
    return isLate ? Math.max(0, failed) : -1
  }
  const markFailed = (endpoint: E) => void failedAt.set(endpoint, now())

  function endpoints(): readonly E[] {
    const serving = configured.filter((endpoint) => troubleOf(endpoint) !== 'OTHER_CHAIN')
    return serving.sort((a, b) => lateness(a) - lateness(b))
  }

  return {
    /** The endpoints in their configured order; those that gave no answer come after the others for some time, and those in trouble too. */
    endpoints,
    /** The same for those who verify an endpoint before they read from it: the first one when all of them serve another chain. */
    endpointsToVerify(): readonly E[] {
      const serving = endpoints()
      return serving.length > 0 ? serving : configured.slice(0, 1)
    },
    /**
     * Works with one endpoint after the other until the work succeeds.
     * @param onFailure sees the error of each endpoint; an error that it throws ends the work
     * @throws when all fail: the last error, but an error that a node has answered counts more than one without an answer
     */
    async inOrder<T>(
      work: (endpoint: E) => Promise<T>,
      onFailure: (error: unknown, endpoint: E) => void,
      among = endpoints(),
    ): Promise<T> {
      let failure: unknown = lost('no endpoint serves the chain')
      for (const endpoint of among) {
        try {
          return await work(endpoint)
        } catch (error) {
          onFailure(error, endpoint)
          if (!isNodeAnswer(failure)) failure = error
        }
      }
      throw failure
    },
    /** Notes that an endpoint has answered, in whatever way. */
    markAnswered: (endpoint: E): void => void answeredAt.set(endpoint, now()),
    markFailed,
    /**
     * Notes that a call was ended before its answer. Callers choose when they leave, and their tokens how long a call takes. So the
     * endpoint has failed only if it has answered no call for `silenceMs` since this one began.
     */
    markEnded(endpoint: E, begunAt: number, silenceMs: number): void {
      const heardAt = Math.max(begunAt, answeredAt.get(endpoint) ?? Number.NEGATIVE_INFINITY)
      if (now() - heardAt >= silenceMs) markFailed(endpoint)
    },
  }
}
