import { createPublicClient, custom, type PublicClient, type Transport } from 'viem'
import { createRpcEndpoint } from '../../../chain/src/rpc-endpoint.js'
import type { Clock } from '../../../protocol/src/clock.js'
import { inTime } from '../waiting.js'
import { createPacing, type Send } from './pacing.js'

/** As long as a call by a URL may take, whatever a transport repeats. */
const CALL_MS = 5_000

/** The way to a chain's node. */
export interface OpenNode {
  readonly client: PublicClient
  /** How many calls the node takes in a second, as far as its refusals show. */
  readonly callsPerSecond: () => number
  readonly close: () => void
}

/** Opens it for the option `rpc`: a URL, or a transport of viem. It must be closed. */
export function openNode(rpc: string | Transport, clock: Clock): OpenNode {
  const { paced, callsPerSecond } = createPacing(clock)
  let close = () => {}
  let transport: Transport
  if (typeof rpc === 'string') {
    const endpoint = createRpcEndpoint(rpc, { clock })
    close = endpoint.close
    const request = paced(({ method, params }) => endpoint.request(method, params))
    transport = custom({ request }, { retryCount: 0 })
  } else
    transport = (options) => {
      const opened = rpc(options)
      // It may leave a call without an answer.
      const send: Send = (call) => inTime(clock, CALL_MS, 'the node', (opened.request as Send)(call))
      return { ...opened, request: paced(send) as typeof opened.request }
    }
  // A contract must not lead calls to a URL of its own.
  return { client: createPublicClient({ ccipRead: false, transport }), callsPerSecond, close }
}
