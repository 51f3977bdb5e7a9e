import type { PublicClient } from 'viem'
import { systemClock } from '../../../src/clock.js'
import { createEndpointOrder } from './endpoint-order.js'
import {
  createRpcEndpoint,
  type Endpoint,
  type RpcEndpointOptions,
  type RpcRequest,
  toPublicClient,
} from './rpc-endpoint.js'
import { hasRun, RpcError } from './rpc-error.js'

/** The JSON-RPC endpoints of one chain. */
export interface RpcClient {
  /** Calls the endpoints in order until one answers; those that gave no answer come last for some time. */
  readonly request: RpcRequest
  /** A client of viem that makes its calls by `request`. */
  readonly client: PublicClient
  /** The endpoints, in the order of the URLs. */
  readonly endpoints: readonly Endpoint[]
  /** Fails the calls under way, and closes what is open. */
  close(): void
}

/**
 * Builds the client of a chain's JSON-RPC endpoints. A revert is an answer; after any other error the next endpoint is called. When all
 * fail, an error that a node has answered counts more than one without an answer.
 * @param urls http, https, ws or wss URLs, in order of preference; at least one
 */
export function createRpcClient(urls: readonly string[], options: RpcEndpointOptions = {}): RpcClient {
  const endpoints = urls.map((url) => createRpcEndpoint(url, options))

  const order = createEndpointOrder(endpoints, (options.clock ?? systemClock).monotonic)

  const request: RpcRequest = async (...call) => {
    let failure: RpcError | undefined
    for (const endpoint of order.endpoints()) {
      try {
        return await endpoint.request(...call)
      } catch (error) {
        if (!(error instanceof RpcError) || hasRun(error)) throw error
        if (error.kind !== 'answered') order.markFailed(endpoint)
        if (failure?.kind !== 'answered') failure = error
      }
    }
    throw failure
  }

  return {
    request,
    client: toPublicClient(request),
    endpoints,
    close() {
      for (const { close } of endpoints) close()
    },
  }
}
