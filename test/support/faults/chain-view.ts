/** A JSON-RPC request as received. */
export interface RpcRequest {
  id?: number | string | null
  method: string
  params?: unknown[]
}

/** A JSON-RPC answer, without its id. */
export interface RpcReply {
  result?: unknown
  error?: { code: number; message: string }
}

/** Calls the chain itself. */
export type RpcCaller = (method: string, params: unknown[]) => Promise<RpcReply>
