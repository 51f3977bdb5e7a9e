import {
  ChainReadError,
  DepositError,
  explainForUser,
  isDeclined,
  QuoteVerificationError,
} from '@quote-aggregator/client'
import { BaseError, ChainMismatchError, ResourceUnavailableRpcError } from 'viem'

type ErrorKind = abstract new (...args: never[]) => { readonly code?: number }

/** An offer that the user's node takes for good, and the instance does not. */
export class DeadOfferError extends Error {
  constructor() {
    super('The contract has the order already, or takes this offer no more, says the instance.')
  }
}

/** Describes what a wallet, a node or the check of a quote has thrown, in a sentence. */
export function describeWalletError(thrown: unknown): string {
  // Its words say what is uncertain: the cause may be what the wallet said.
  if (thrown instanceof DepositError || thrown instanceof QuoteVerificationError)
    return explainForUser(thrown)
  if (isDeclined(thrown)) return 'You refused the request in the wallet.'
  if (isOf(thrown, ResourceUnavailableRpcError, ResourceUnavailableRpcError.code))
    return 'The wallet still has an open request. Answer it there, then try again.'
  const source = thrown instanceof ChainReadError ? ChainReadError.sourceOf(thrown) : thrown
  if (source instanceof BaseError && source.walk(isMismatch))
    return 'The wallet has changed to another chain. Nothing was sent there.'
  if (thrown instanceof BaseError) return thrown.shortMessage
  return thrown instanceof Error
    ? thrown.message
    : String((thrown as { message?: unknown })?.message ?? thrown)
}

/** Whether it is certain that a deposit has changed nothing. */
export const isFailure = (thrown: unknown) => thrown instanceof DepositError && thrown.reason !== 'UNCERTAIN'

/** Whether the offer must not be taken: for a transfer, its address must not be paid any more. */
export const isRefusal = (thrown: unknown) =>
  thrown instanceof QuoteVerificationError ||
  thrown instanceof DeadOfferError ||
  (thrown instanceof DepositError && thrown.reason === 'TOO_LATE_FOR_TRANSFER')

const isMismatch = (error: unknown) => error instanceof ChainMismatchError

/** Wallets throw plain objects with a code, which viem makes errors of its own. */
function isOf(thrown: unknown, kind: ErrorKind, code: number): boolean {
  if (((thrown ?? {}) as { code?: unknown }).code === code) return true
  return thrown instanceof BaseError && thrown.walk((error) => error instanceof kind) !== null
}
