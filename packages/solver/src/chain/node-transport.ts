import type { Transport } from 'viem'
import type { Clock } from '../../../../src/clock.js'
import { createRpcEndpoint, type RpcRequest, toTransport } from '../../../chain/src/rpc-endpoint.js'
import { RpcError } from '../../../chain/src/rpc-error.js'

/** The way to a chain's node. */
export interface NodeTransport {
  readonly transport: Transport
  /** Closes what is open. A transport of the market maker stays as it is. */
  close(): void
}

/** A call that fails on its way is made again. */
const ATTEMPTS = 3
const FIRST_PAUSE_MS = 150
/** For a node that limits rates: as long as no call is sent to it. */
const FIRST_LIMITED_PAUSE_MS = 1_000

/** Builds it for the option `rpc`: a URL, or a transport of viem that is taken as it is. */
export function openTransport(rpc: string | Transport, clock: Clock): NodeTransport {
  if (typeof rpc !== 'string') return { transport: rpc, close: () => {} }
  const { request, close } = createRpcEndpoint(rpc, { clock })
  return { transport: toTransport(repeating(request, clock)), close }
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
