import { BaseError, HttpRequestError, ResponseBodyTooLargeError, RpcRequestError } from 'viem'
import { shorten } from '../domain/text.js'

/** Statuses by which some nodes answer a request that asks for too much. */
const REFUSALS: readonly (number | undefined)[] = [400, 413]

/** A node's own words are as long as it likes. */
const MAX_SUMMARY_LENGTH = 300

/** A long error of viem in one short line: its own text holds the RPC's URL, in which there may be a key. */
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

/** Whether a failed call was answered by the node, and not lost on the way; an answer that is too long counts. */
export function isRpcResponseError(error: unknown): boolean {
  if (!(error instanceof Error)) return false
  if (error instanceof RpcRequestError || error instanceof ResponseBodyTooLargeError) return true
  if (error instanceof HttpRequestError && REFUSALS.includes(error.status)) return true
  return isRpcResponseError(error.cause)
}
