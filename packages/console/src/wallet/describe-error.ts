import { DepositError, QuoteVerificationError } from '@quote-aggregator/client'
import { BaseError, ChainMismatchError, ResourceUnavailableRpcError, UserRejectedRequestError } from 'viem'

type ErrorKind = abstract new (...args: never[]) => { readonly code?: number }

/** Describes what a wallet, a node or the check of a quote has thrown, in a sentence. */
export function describeWalletError(thrown: unknown): string {
  if (thrown instanceof QuoteVerificationError)
    return `This quote must not be taken: ${thrown.problems.map((problem) => problem.replaceAll('_', ' ')).join(', ')}.`
  if (isRefused(thrown)) return 'You refused the request in the wallet.'
  if (isOf(thrown, ResourceUnavailableRpcError, ResourceUnavailableRpcError.code))
    return 'The wallet still has an open request. Answer it there, then try again.'
  if (thrown instanceof ChainMismatchError || (thrown instanceof BaseError && thrown.walk(isMismatch)))
    return 'The wallet has changed to another chain. Nothing was sent there.'
  if (thrown instanceof BaseError) return thrown.shortMessage
  return thrown instanceof Error
    ? thrown.message
    : String((thrown as { message?: unknown })?.message ?? thrown)
}

/** Whether the user has refused a request in the wallet. */
export const isRefused = (thrown: unknown) =>
  isOf(thrown, UserRejectedRequestError, UserRejectedRequestError.code)

/** Whether it is certain that a deposit has changed nothing. */
export const isFailure = (thrown: unknown) => thrown instanceof DepositError && thrown.reason !== 'UNCERTAIN'

const isMismatch = (error: unknown) => error instanceof ChainMismatchError

/** Wallets throw plain objects with a code, which viem makes errors of its own. */
function isOf(thrown: unknown, kind: ErrorKind, code: number): boolean {
  if (((thrown ?? {}) as { code?: unknown }).code === code) return true
  return thrown instanceof BaseError && thrown.walk((error) => error instanceof kind) !== null
}
