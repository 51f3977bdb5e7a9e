import { createPublicClient, type PublicClient, type Transport } from 'viem'
import { RpcError } from '../../../chain/src/json-rpc.js'
import { createRpcEndpoint, type RpcRequest, toPublicClient } from '../../../chain/src/rpc-endpoint.js'
import type { Clock } from '../../../protocol/src/clock.js'
import { inTime } from '../waiting.js'

/** A call that fails on its way is made again. */
const ATTEMPTS = 3
const FIRST_PAUSE_MS = 150
/** For a node that limits rates: as long as no call is sent to it. */
const FIRST_LIMITED_PAUSE_MS = 1_000
/** A call that is answered later is of no use within the shortest fill windows, whatever a transport repeats. */
const CALL_MS = 15_000

/**
 * Opens the way to a chain's node, for the option `rpc`: a URL, or a transport of viem. The client must be closed.
 */
export function openNode(rpc: string | Transport, clock: Clock): { client: PublicClient; close(): void } {
  // A contract must not lead calls to a URL of its own.
  if (typeof rpc !== 'string')
    return { client: createPublicClient({ ccipRead: false, transport: answering(rpc, clock) }), close() {} }
  const { request, close } = createRpcEndpoint(rpc, { clock })
  return { client: toPublicClient(repeating(request, clock)), close }
}

/** A transport of the market maker's own may leave a call without an answer. */
function answering(open: Transport, clock: Clock): Transport {
  return (options) => {
    const opened = open(options)
    return { ...opened, request: (...call) => inTime(clock, CALL_MS, 'the node', opened.request(...call)) }
  }
}

function repeating(request: RpcRequest, clock: Clock): RpcRequest {
  return async (...call) => {
    for (let attempt = 1; ; attempt++) {
      try {
        return await request(...call)
      } catch (error) {
        if (attempt === ATTEMPTS || !(error instanceof RpcError) || !mayPass(error)) throw error
        const firstMs = error.isRateLimit ? FIRST_LIMITED_PAUSE_MS : FIRST_PAUSE_MS
        await clock.sleep(firstMs * 2 ** (attempt - 1))
      }
    }
  }
}

/** Whether the node may answer the same call soon. */
function mayPass({ kind, isTimeout }: RpcError): boolean {
  return kind === 'refused' || (kind === 'lost' && !isTimeout)
}
