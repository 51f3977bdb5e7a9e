import { createPublicClient, custom, type PublicClient, type Transport } from 'viem'
import { RpcError } from '../../../chain/src/json-rpc.js'
import { createRpcEndpoint } from '../../../chain/src/rpc-endpoint.js'
import type { Clock } from '../../../protocol/src/clock.js'
import { inTime } from '../waiting.js'
import { createPacing } from './pacing.js'

/** A call that fails on its way is made again. */
const ATTEMPTS = 3
const FIRST_PAUSE_MS = 150
/** A call that is answered later is of no use within the shortest fill windows, whatever a transport repeats. */
const CALL_MS = 15_000
/** A call without an answer for so long is made once more beside it: one connection may be lost, and the next one not. */
const AGAIN_MS = 5_000

type Send = (call: { readonly method: string; readonly params?: unknown }) => Promise<unknown>

/** The way to a chain's node. */
interface OpenNode extends Pick<ReturnType<typeof createPacing>, 'callsPerSecond'> {
  readonly client: PublicClient
  close(): void
}

/**
 * Opens the way to a chain's node, for the option `rpc`: a URL, or a transport of viem. The client must be closed.
 */
export function openNode(rpc: string | Transport, clock: Clock): OpenNode {
  const pacing = createPacing(clock)
  const paced =
    (send: Send): Send =>
    (call) =>
      pacing.call(JSON.stringify([call.method, call.params]), () => send(call))
  const { callsPerSecond } = pacing
  // A contract must not lead calls to a URL of its own.
  const toClient = (transport: Transport) => createPublicClient({ ccipRead: false, transport })
  if (typeof rpc !== 'string') {
    const open: Transport = (options) => {
      const opened = rpc(options)
      return { ...opened, request: paced(answering(opened.request as Send, clock)) as typeof opened.request }
    }
    return { client: toClient(open), callsPerSecond, close() {} }
  }
  const { request, close } = createRpcEndpoint(rpc, { clock })
  const send = paced(repeating(({ method, params }) => request(method, params as readonly unknown[]), clock))
  return { client: toClient(custom({ request: send }, { retryCount: 0 })), callsPerSecond, close }
}

/** A transport of the market maker's own may leave a call without an answer. What is sent twice is carried out once. */
function answering(send: Send, clock: Clock): Send {
  return (call) => {
    const over = new AbortController()
    const again = async (): Promise<unknown> => {
      await clock.sleep(AGAIN_MS, over.signal)
      return Promise.race([send(call), again()])
    }
    const answer = Promise.race([send(call), again()])
    return inTime(clock, CALL_MS, 'the node', answer).finally(() => over.abort())
  }
}

function repeating(send: Send, clock: Clock): Send {
  return async (call) => {
    for (let attempt = 1; ; attempt++) {
      try {
        return await send(call)
      } catch (error) {
        if (attempt === ATTEMPTS || !(error instanceof RpcError) || !mayPass(error)) throw error
        await clock.sleep(FIRST_PAUSE_MS * 2 ** (attempt - 1))
      }
    }
  }
}

/** Whether the node may answer the same call soon. The pace waits for one that limits rates. */
function mayPass({ kind, isTimeout, isRateLimit }: RpcError): boolean {
  return !isRateLimit && (kind === 'refused' || (kind === 'lost' && !isTimeout))
}
