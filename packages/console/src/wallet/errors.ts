import { QuoteVerificationError } from '@quote-aggregator/client'
import { BaseError, UserRejectedRequestError } from 'viem'

/** Describes what a wallet, a node or the check of a quote has thrown, in a sentence. */
export function describeWalletError(thrown: unknown): string {
  if (thrown instanceof QuoteVerificationError)
    return `This quote must not be taken: ${thrown.problems.map((problem) => problem.replaceAll('_', ' ')).join(', ')}.`
  const isRejected =
    thrown instanceof BaseError && thrown.walk((error) => error instanceof UserRejectedRequestError)
  const { code } = (thrown ?? {}) as { code?: number }
  if (isRejected || code === UserRejectedRequestError.code) return 'You refused the request in the wallet.'
  if (thrown instanceof BaseError) return thrown.shortMessage
  return thrown instanceof Error
    ? thrown.message
    : String((thrown as { message?: unknown })?.message ?? thrown)
}
