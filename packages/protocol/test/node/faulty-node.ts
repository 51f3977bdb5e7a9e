import type { Hex } from 'viem'

/** An answer of JSON-RPC: a result, or an error. */
export type Reply = { readonly result: unknown } | { readonly error: unknown }

export interface FaultyNodeOptions {
  /** What `eth_call` is answered with, one after the other; the last one from then on. */
  readonly replies: readonly Reply[]
  /** What `eth_getCode` is answered with, one after the other; the last one from then on. */
  readonly codes?: readonly unknown[]
}

/** A contract's code. */
export const CODE: Hex = '0x6000'

/** A node whose answers a test chooses. Its head rises by one with each call. */
export function createFaultyNode({ replies, codes = [CODE] }: FaultyNodeOptions) {
  let head = 100
  const calls: { readonly method: string; readonly params: readonly unknown[] }[] = []
  const countOf = (method: string) => calls.filter((call) => call.method === method).length

  function replyTo(method: string): Reply {
    if (method === 'eth_blockNumber') return { result: `0x${(head++).toString(16)}` }
    if (method === 'eth_getCode') return { result: codes[Math.min(countOf(method), codes.length) - 1] }
    return replies[Math.min(countOf('eth_call'), replies.length) - 1] as Reply
  }

  return {
    calls,
    /** In JSON-RPC form. */
    reply(method: string, params: readonly unknown[] = []): Reply {
      calls.push({ method, params })
      return replyTo(method)
    },
    /** As EIP-1193 has it. @throws the error of the reply as it is */
    async request({ method, params = [] }: { method: string; params?: readonly unknown[] }) {
      const reply = this.reply(method, params)
      if ('error' in reply) throw reply.error
      return reply.result
    },
  }
}
