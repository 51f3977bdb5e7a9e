import { BaseError, HttpRequestError, ResponseBodyTooLargeError, RpcRequestError } from 'viem'
import { shorten } from '../domain/text.js'

/** Statuses with which some nodes reject a request for too many logs. */
const REFUSALS: readonly (number | undefined)[] = [400, 413]

/** A node's error text has no limit of its own. */
const MAX_SUMMARY_LENGTH = 300

/** A viem error in one short line. Its full text has the RPC's URL, which may contain a key. */
export function summary(error: unknown): string {
  return shorten(lineOf(error), MAX_SUMMARY_LENGTH)
}

function lineOf(error: unknown): string {
  if (!(error instanceof BaseError)) return String(error)
  const root = error.walk()
  if (error instanceof HttpRequestError && error.status !== undefined)
    return `the node answers with status ${error.status}`
  return root === error ? error.shortMessage : `${error.shortMessage} (${root.message.split('\n')[0]})`
}

/** Whether a failed call has an answer of the node, and was not lost on the way. An answer that is too long counts. */
export function isRpcResponseError(error: unknown): boolean {
  if (!(error instanceof Error)) return false
  if (error instanceof RpcRequestError || error instanceof ResponseBodyTooLargeError) return true
  if (error instanceof HttpRequestError && REFUSALS.includes(error.status)) return true
  return isRpcResponseError(error.cause)
}
