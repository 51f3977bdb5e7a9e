import { getAddress } from 'viem'
import type { QuoteRequest } from '../domain/quote.js'

/** The JSON text that solvers are asked with, in the wire format of deployed solvers (decisions.md D4). */
export function askText(request: QuoteRequest): string {
  return JSON.stringify({
    inputToken: getAddress(request.inputToken),
    outputToken: getAddress(request.outputToken),
    orderType: request.orderType,
    amount: request.amount.toString(),
    userAddress: getAddress(request.user),
    chainId: request.chainId,
    destinationChainId: request.destinationChainId,
    depositMode: request.depositMode,
    depositDeadline: request.depositDeadline,
    fillDeadline: request.fillDeadline,
  })
}
