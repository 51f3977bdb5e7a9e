import type { Words } from './node-words.js'
import { lost } from './rpc-call.js'
import { isRecord, toRpcError } from './rpc-error.js'

/** Up to this size, no JSON takes long to parse. */
const SMALL_BYTES = 512 * 1024
/** A node's JSON has a structural character for every 17 to 35 bytes. */
const BYTES_PER_TOKEN = 10
const IS_STRUCTURAL = Uint8Array.from({ length: 256 }, (_, byte) =>
  Number('{}[],:'.includes(String.fromCharCode(byte))),
)

/**
 * Parses a node's JSON. A long text of empty objects would stop the event loop for seconds and take twenty times its size, so it is
 * not parsed.
 * @throws RpcError of kind `lost`
 */
export function parseJson(bytes: Buffer): unknown {
  if (bytes.length > SMALL_BYTES && countTokens(bytes) > bytes.length / BYTES_PER_TOKEN)
    throw lost('the answer of the node has far more values than its size allows')
  try {
    // Without a byte order mark.
    return JSON.parse(new TextDecoder().decode(bytes))
  } catch {
    throw lost('the answer of the node is not JSON')
  }
}

function countTokens(bytes: Uint8Array): number {
  let count = 0
  for (const byte of bytes) count += IS_STRUCTURAL[byte] ?? 0
  return count
}

/**
 * The result in an answer of JSON-RPC, which may be null. Some gateways send the answer to one call as a list.
 * @throws RpcError with the node's error, or of kind `lost` for what is no answer
 */
export function resultOf(answer: unknown, words: Words): unknown {
  const one = Array.isArray(answer) && answer.length === 1 ? answer[0] : answer
  const { result, error } = isRecord(one) ? one : {}
  if (error !== undefined && error !== null) throw toRpcError(error, words)
  if (result !== undefined) return result
  throw lost('the answer of the node has neither a result nor an error')
}
