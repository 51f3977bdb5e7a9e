import { ChainReadError } from './chain-read-error.js'
import { partsOf, REVERT_CODE } from './revert.js'

/** Codes of viem and of EIP-1193 for requests that got no answer of a node. */
const NOT_ANSWERED: readonly number[] = [-1, 4900, 4901]
/** DOM exceptions, such as that of an abort, have lower codes. */
const MIN_POSITIVE_CODE = 100
/** Errors of viem for answers: an error of the node, and an answer that is too long. */
const ANSWERS: readonly unknown[] = ['RpcRequestError', 'ResponseBodyTooLargeError']
/** Kinds of errors of packages/chain for answers. */
const ANSWERED: readonly unknown[] = ['answered', 'too_long']
/** Statuses of HTTP with which some nodes refuse a call. */
const REFUSED: readonly unknown[] = [400, 413]

/** Whether a failed call has an answer of the node, in any wording, and was not lost on the way. */
export function isNodeAnswer(error: unknown): boolean {
  if (error instanceof ChainReadError) {
    const source = ChainReadError.sourceOf(error)
    return source === undefined || isNodeAnswer(source)
  }
  return partsOf(error).some(
    ({ name, kind, code, status }) =>
      ANSWERS.includes(name) ||
      ANSWERED.includes(kind) ||
      REFUSED.includes(status) ||
      (typeof code === 'number' &&
        (code < 0 || code === REVERT_CODE || code >= MIN_POSITIVE_CODE) &&
        !NOT_ANSWERED.includes(code)),
  )
}
