import type { QuoteRequest } from '../domain/quote.js'
import { toKnownChecksumAddress } from '../signing/checksum.js'

/** The JSON text that solvers are asked with, in the wire format of deployed solvers (docs/decisions.md, D4). */
export function requestBody(request: QuoteRequest): string {
  return JSON.stringify({
    inputToken: toKnownChecksumAddress(request.inputToken),
    outputToken: toKnownChecksumAddress(request.outputToken),
    orderType: request.orderType,
    amount: request.amount.toString(),
    userAddress: toKnownChecksumAddress(request.user),
    chainId: request.chainId,
    destinationChainId: request.destinationChainId,
    depositMode: request.depositMode,
    depositDeadline: request.depositDeadline,
    fillDeadline: request.fillDeadline,
  })
}
