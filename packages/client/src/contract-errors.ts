import {
  BaseError,
  ContractFunctionRevertedError,
  ContractFunctionZeroDataError,
  ExecutionRevertedError,
  RpcError,
  RpcRequestError,
} from 'viem'

/** Whether a view failed because the contract does not have it: it reverted, or answered nothing. */
export function hasNoSuchFunction(error: unknown): boolean {
  return isCausedBy(
    error,
    (cause) =>
      cause instanceof ContractFunctionRevertedError || cause instanceof ContractFunctionZeroDataError,
  )
}

/** Codes of viem's errors and of EIP-1193 that say that a request got no answer of a node. */
const NOT_ANSWERED: readonly number[] = [-1, 4900, 4901]

/** Whether a node has answered a call with an error, in any wording. It is not one when the connection failed. */
export function isErrorResponse(error: unknown): boolean {
  return isCausedBy(
    error,
    (cause) =>
      cause instanceof RpcRequestError ||
      cause instanceof ExecutionRevertedError ||
      (cause instanceof RpcError && !NOT_ANSWERED.includes(cause.code)),
  )
}

function isCausedBy(error: unknown, matches: (cause: unknown) => boolean): boolean {
  return error instanceof BaseError && error.walk(matches) !== null
}
