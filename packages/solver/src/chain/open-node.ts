import { createPublicClient, type PublicClient, type Transport } from 'viem'
import type { Clock } from '../../../../src/clock.js'
import { RpcError } from '../../../chain/src/json-rpc.js'
import { createRpcEndpoint, type RpcRequest, toPublicClient } from '../../../chain/src/rpc-endpoint.js'

/** A call that fails on its way is made again after each: the last time after the first pause of a node that limits rates. */
const PAUSES_MS = [400, 800]

/**
 * Opens the way to a chain's node, for the option `rpc`: a URL, or a transport of viem, which stays as it is. The client must be closed.
 */
export function openNode(rpc: string | Transport, clock: Clock): { client: PublicClient; close(): void } {
  // A contract must not lead calls to a URL of its own.
  if (typeof rpc !== 'string')
    return { client: createPublicClient({ ccipRead: false, transport: rpc }), close() {} }
  const { request, close } = createRpcEndpoint(rpc, { clock })
  return { client: toPublicClient(repeating(request, clock)), close }
}

function repeating(request: RpcRequest, clock: Clock): RpcRequest {
  return async (...call) => {
    for (const pauseMs of PAUSES_MS) {
      try {
        return await request(...call)
      } catch (error) {
        if (!mayPass(error)) throw error
        await clock.sleep(pauseMs)
      }
    }
    return request(...call)
  }
}

/** Whether the node may answer the same call soon. */
function mayPass(error: unknown): boolean {
  if (!(error instanceof RpcError)) return false
  return error.kind === 'refused' || (error.kind === 'lost' && !error.isTimeout)
}
