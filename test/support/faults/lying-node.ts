import type { RpcReply } from './chain-view.js'
import type { RpcProxy } from './rpc-proxy.js'

// biome-ignore lint/suspicious/noExplicitAny: the wrong answers have many shapes
type Answer = any

/** What a node answers instead of the truth. Omitted methods are answered correctly. */
export interface Lies {
  /** @param times how often these logs have been requested before; a range is requested with `fromBlock` */
  logs?: (logs: Answer[], times: number, filter: Answer) => Answer
  header?: (header: Answer) => Answer
  headerByHash?: (header: Answer) => Answer
  /** False for a node without the method. */
  receipts?: ((receipts: Answer[]) => Answer) | false
}

const METHOD_MISSING: RpcReply = { error: { code: -32601, message: 'the method does not exist' } }

/** Makes an endpoint give wrong answers from now on. */
export function lie(rpc: RpcProxy, { logs, header, headerByHash, receipts }: Lies): void {
  const asked = new Map<string, number>()
  rpc.intercept(async ({ method, params = [] }, pass) => {
    if (method === 'eth_getBlockReceipts' && receipts === false) return METHOD_MISSING
    const reply = await pass()
    if (!reply.result) return reply
    if (method === 'eth_getLogs' && logs !== undefined) {
      const key = JSON.stringify(params)
      const times = asked.get(key) ?? 0
      asked.set(key, times + 1)
      return { result: logs(reply.result as Answer[], times, params[0]) }
    }
    if (method === 'eth_getBlockByHash' && headerByHash !== undefined)
      return { result: headerByHash(reply.result) }
    if (method.startsWith('eth_getBlockBy') && header !== undefined) return { result: header(reply.result) }
    if (method === 'eth_getBlockReceipts' && receipts) return { result: receipts(reply.result as Answer[]) }
    return reply
  })
}

/** A bloom filter in which every byte is this one, two hex digits. */
export const bloomOf = (byte: string) => `0x${byte.repeat(256)}`
