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

interface LogFilter {
  fromBlock?: string
  toBlock?: string
  blockHash?: string
}

const UNKNOWN_BLOCK: RpcReply = { error: { code: -32000, message: 'unknown block' } }
/** Which parameter of a state call names the block. */
const BLOCK_PARAMETER: Readonly<Record<string, number>> = {
  eth_call: 1,
  eth_getCode: 1,
  eth_getBalance: 1,
  eth_getTransactionCount: 1,
  eth_getStorageAt: 2,
}

/** The last block's number. */
export async function headOf(ask: RpcCaller): Promise<number> {
  return Number((await ask('eth_blockNumber', [])).result)
}

/**
 * Answers as a node that has not seen the last `lag` blocks yet. Nothing above its own head exists for it,
 * and it has only the logs up to there.
 */
export async function answerFromOldHead(ask: RpcCaller, request: RpcRequest, lag: number): Promise<RpcReply> {
  const { method, params = [] } = request
  const head = Math.max(0, (await headOf(ask)) - lag)
  if (method === 'eth_blockNumber') return { result: hex(head) }
  if (method === 'eth_getBlockByNumber' || method === 'eth_getBlockReceipts') {
    const number = numberOf(params[0], head)
    return number > head ? { result: null } : ask(method, [named(params[0], number), ...params.slice(1)])
  }
  if (method === 'eth_getLogs') return oldLogs(ask, params[0] as LogFilter, head)
  const place = BLOCK_PARAMETER[method]
  if (place !== undefined) return oldState(ask, request, place, head)
  const reply = await ask(method, params)
  const isAhead = blockNumberIn(method, reply.result) > head
  return isAhead ? { result: null } : reply
}

async function oldLogs(ask: RpcCaller, filter: LogFilter, head: number): Promise<RpcReply> {
  if (filter.blockHash !== undefined) {
    const isKnown = await isAtMost(ask, filter.blockHash, head)
    return isKnown ? ask('eth_getLogs', [filter]) : UNKNOWN_BLOCK
  }
  const from = numberOf(filter.fromBlock, head)
  const to = Math.min(head, numberOf(filter.toBlock, head))
  if (from > to) return { result: [] }
  return ask('eth_getLogs', [{ ...filter, fromBlock: hex(from), toBlock: hex(to) }])
}

async function oldState(ask: RpcCaller, request: RpcRequest, place: number, head: number): Promise<RpcReply> {
  const params = [...(request.params ?? [])]
  const block = params[place]
  if (isObject(block) && typeof block.blockHash === 'string') {
    return (await isAtMost(ask, block.blockHash, head)) ? ask(request.method, params) : UNKNOWN_BLOCK
  }
  const name = isObject(block) ? block.blockNumber : block
  const number = numberOf(name, head)
  if (number > head) return UNKNOWN_BLOCK
  params[place] = named(name, number)
  return ask(request.method, params)
}

async function isAtMost(ask: RpcCaller, blockHash: string, head: number): Promise<boolean> {
  const { result } = await ask('eth_getBlockByHash', [blockHash, false])
  return isObject(result) && Number(result.number) <= head
}

/** The block of an answer. Below all blocks when the answer has none. */
function blockNumberIn(method: string, result: unknown): number {
  if (!isObject(result)) return -1
  if (method === 'eth_getBlockByHash') return Number(result.number)
  if (method === 'eth_getTransactionReceipt' || method === 'eth_getTransactionByHash') {
    return Number(result.blockNumber)
  }
  return -1
}

function numberOf(name: unknown, head: number): number {
  if (name === undefined || name === 'latest' || name === 'pending') return head
  if (name === 'earliest' || name === 'safe' || name === 'finalized') return 0
  return Number(name)
}

/** Replaces block names that move with the head by its number. */
function named(name: unknown, number: number): unknown {
  return name === undefined || name === 'latest' || name === 'pending' ? hex(number) : name
}

function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null
}

function hex(value: number): string {
  return `0x${value.toString(16)}`
}
