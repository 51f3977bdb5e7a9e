import { systemClock } from '../../protocol/src/clock.js'
import { hasRun, lost, RpcError } from './json-rpc.js'
import {
  createRpcEndpoint,
  type Endpoint,
  type RpcEndpointOptions,
  type RpcRequest,
  toPublicClient,
} from './rpc-endpoint.js'

interface RpcClientOptions extends RpcEndpointOptions {
  /** Where an endpoint stands in the order of calls, next to what its failures say. */
  readonly placeOf?: (endpoint: Endpoint) => EndpointPlace
}

/**
 * The JSON-RPC endpoints of one chain.
 * Builds the client of a chain's JSON-RPC endpoints. A revert is an answer; after any other error the next endpoint is called. When all
 * fail, an error that a node has answered counts more than one without an answer.
 * @param urls http, https, ws or wss URLs, in order of preference; at least one
 */
export function createRpcClient(urls: readonly string[], options: RpcClientOptions = {}) {
  const endpoints = urls.map((url) => createRpcEndpoint(url, options))

  const order = createEndpointOrder(endpoints, (options.clock ?? systemClock).monotonic, options.placeOf)

  const request: RpcRequest = async (...call) => {
    let failure = lost('no endpoint serves the chain')
    for (const endpoint of order.endpoints()) {
      try {
        return await endpoint.request(...call)
      } catch (error) {
        if (!(error instanceof RpcError) || hasRun(error)) throw error
        if (error.kind !== 'answered') order.markFailed(endpoint)
        if (failure.kind !== 'answered') failure = error
      }
    }
    throw failure
  }

  return {
    /** Calls the endpoints in order until one answers; those that gave no answer come last for some time. */
    request,
    /** A client of viem that makes its calls by `request`. */
    client: toPublicClient(request),
    /** The endpoints, in the order of the URLs. */
    endpoints,
    /** Fails the calls under way, and closes what is open. */
    close(): void {
      for (const { close } of endpoints) close()
    },
  }
}

/** In the configured order, after the endpoints that have their place, or not called at all. */
export type EndpointPlace = 'own' | 'last' | 'none'

/** How long an endpoint that gave no answer comes after the others. */
const AVOID_MS = 10_000

/** Builds the order in which the endpoints of a chain are called. @param now milliseconds that never go back */
export function createEndpointOrder<E>(
  configured: readonly E[],
  now: () => number,
  placeOf: (endpoint: E) => EndpointPlace = () => 'own',
) {
  const answeredAt = new Map<E, number>()
  const failedAt = new Map<E, number>()
  /** The first one to have failed comes first among those that come last, so that each has its turn when all fail. */
  function lateness(endpoint: E): number {
    const failed = failedAt.get(endpoint) ?? Number.NEGATIVE_INFINITY
    const isLate = placeOf(endpoint) === 'last' || now() - failed < AVOID_MS
    return isLate ? Math.max(0, failed) : -1
  }
  const markFailed = (endpoint: E) => void failedAt.set(endpoint, now())

  return {
    /** The endpoints in their configured order; those that gave no answer come after the others for some time, and those placed last too. */
    endpoints: (): readonly E[] =>
      configured.filter((endpoint) => placeOf(endpoint) !== 'none').sort((a, b) => lateness(a) - lateness(b)),
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
