import type { QuoteRequest } from '../domain/quote.js'
import { toCachedChecksumAddress } from '../signing/checksum.js'

/** The JSON text of a request to solvers, in the wire format of deployed solvers (docs/decisions.md, D4). */
export function requestBody(request: QuoteRequest): string {
  return JSON.stringify({
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
  })
}
