import { BaseError, ContractFunctionRevertedError, ContractFunctionZeroDataError } from 'viem'

/** Whether a view failed because the contract does not have it: it reverted, or answered nothing. */
export function hasNoSuchFunction(error: unknown): boolean {
  if (!(error instanceof BaseError)) return false
  const refusal = error.walk(
    (cause) =>
      cause instanceof ContractFunctionRevertedError || cause instanceof ContractFunctionZeroDataError,
  )
  return refusal !== null
}
