import { BaseError } from 'viem'
import { rpcErrorIn } from '../../packages/chain/src/rpc-error.js'

/** An error of a read in one short line: the node's words, or what viem says of its answer. It has no key of a node's URL. */
export function summary(error: unknown): string {
  const { message } = rpcErrorIn(error) ?? {}
  if (message !== undefined) return message
  return error instanceof BaseError ? error.shortMessage : String(error)
}

/** Whether a failed call has an answer of the node, and was not lost or refused. An answer that is too long counts. */
export function isRpcResponseError(error: unknown): boolean {
  const kind = rpcErrorIn(error)?.kind
  return kind === 'answered' || kind === 'too_long'
}
