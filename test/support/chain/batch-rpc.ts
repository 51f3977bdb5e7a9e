import { request } from 'undici'

/** One JSON-RPC call: its method and its parameters. */
export type RpcCall = readonly [method: string, ...params: unknown[]]

interface RpcAnswer {
  id: number
  result?: unknown
  error?: { code: number; message: string }
}

/** Anvil rejects bodies over 2 MB. One call with a signed quote takes about 2 kB. */
const MAX_BATCH = 400

/** Raw JSON-RPC over HTTP: without estimates, retries and polling. */
export function createBatchRpc(rpcUrl: string) {
  async function post(body: unknown): Promise<unknown> {
    const headers = { 'content-type': 'application/json' }
    const { body: answer } = await request(rpcUrl, { method: 'POST', headers, body: JSON.stringify(body) })
    return answer.json()
  }

  async function send(calls: readonly RpcCall[]): Promise<unknown[]> {
    const requests = calls.map(([method, ...params], id) => ({ jsonrpc: '2.0', id, method, params }))
    const answers = (await post(requests)) as RpcAnswer[]
    const byId = new Map(answers.map((answer) => [answer.id, answer]))
    return calls.map(([method], id) => {
      const answer = byId.get(id)
      if (answer?.error) throw new Error(`${method}: ${answer.error.message} (${answer.error.code})`)
      return answer?.result
    })
  }

  /**
   * Makes calls in as few HTTP requests as possible. Anvil works on the calls of one request at the same
   * time.
   */
  async function batch<T = unknown>(calls: readonly RpcCall[]): Promise<T[]> {
    const results: unknown[] = []
    for (let start = 0; start < calls.length; start += MAX_BATCH) {
      results.push(...(await send(calls.slice(start, start + MAX_BATCH))))
    }
    return results as T[]
  }

  return {
    batch,
    async call<T = unknown>(method: string, ...params: unknown[]): Promise<T> {
      return (await batch<T>([[method, ...params]]))[0] as T
    },
  }
}

/** A number in JSON-RPC form. */
export function quantity(value: number | bigint): `0x${string}` {
  return `0x${value.toString(16)}`
}
