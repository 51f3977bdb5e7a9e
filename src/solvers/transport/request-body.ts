import type { QuoteKind, QuoteRequest } from '../../../packages/protocol/src/quotes/quote.js'
import { toCachedChecksumAddress } from '../../../packages/protocol/src/signing/checksum.js'
import { type Address, lowerCase } from '../../../packages/protocol/src/values/hex.js'

/** The request to solvers as JSON, in the wire format of deployed solvers (docs/decisions.md, D4). */
export interface SolverRequestBody extends Omit<QuoteRequest, 'kind' | 'amount' | 'user'> {
  readonly userAddress: Address
  /** Decimal. */
  readonly amount: string
}

/** Writes the JSON text of a request to solvers. */
export function requestBody(request: QuoteRequest): string {
  const body: SolverRequestBody = {
    inputToken: toCachedChecksumAddress(request.inputToken),
    outputToken: toCachedChecksumAddress(request.outputToken),
    orderType: request.orderType,
    amount: request.amount.toString(),
    userAddress: toCachedChecksumAddress(request.user),
    chainId: request.chainId,
    destinationChainId: request.destinationChainId,
    depositMode: request.depositMode,
    depositDeadline: request.depositDeadline,
    fillDeadline: request.fillDeadline,
    // JSON leaves it out when it is undefined: most solvers never see it.
    minDepositDeadline: request.minDepositDeadline,
  }
  return JSON.stringify(body)
}

/** The request that a JSON text of `requestBody` was written for. */
export function toQuoteRequest(body: SolverRequestBody, kind: QuoteKind): QuoteRequest {
  const { userAddress, amount, inputToken, outputToken, ...rest } = body
  return {
    ...rest,
    kind,
    inputToken: lowerCase(inputToken),
    outputToken: lowerCase(outputToken),
    user: lowerCase(userAddress),
    amount: BigInt(amount),
  }
}
