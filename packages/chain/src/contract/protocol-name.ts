import { findView } from '../../../protocol/src/node/read-view.js'
import type { Request } from '../../../protocol/src/node/simulate.js'
import type { Quote } from '../../../protocol/src/quotes/quote.js'
import { settlementOf } from '../../../protocol/src/settlement/settlement-of-chain.js'
import type { QuoteHasher } from '../../../protocol/src/signing/typed-data.js'
import type { Address } from '../../../protocol/src/values/hex.js'
import { ChainConfigError } from './chain-config-error.js'
import type { ContractPlace } from './verify-contract.js'

/** Whether PROTOCOL_NAME matches the contract; undefined when no view of the contract shows it. */
type ProtocolNameCheck = 'right' | 'wrong' | undefined

const NO_ADDRESS: Address = `0x${'00'.repeat(20)}`
/** A quote of zeros, which every contract refuses: nothing for nothing, until 1970. */
export const EMPTY_QUOTE: Quote = {
  solver: NO_ADDRESS,
  user: NO_ADDRESS,
  inputToken: NO_ADDRESS,
  inputAmount: 0n,
  outputToken: NO_ADDRESS,
  outputAmount: 0n,
  orderType: 'EXACT_INPUT',
  outputChainId: 0,
  depositDeadline: 0,
  fillDeadline: 0,
  nonce: 0n,
}

/** The deposit address of an empty quote. It depends on the type hash, and so on PROTOCOL_NAME. */
export function emptyQuoteAddress(hasher: QuoteHasher): Address {
  return hasher.identify(hasher.hash(EMPTY_QUOTE).structHash, new Uint8Array()).depositAddress
}

/** Compares the contract's deposit address of an empty quote with the hasher's. @throws ChainReadError */
export async function checkProtocolName(
  request: Request,
  { chainId, settlement }: ContractPlace,
  hasher: QuoteHasher,
): Promise<ProtocolNameCheck> {
  const answer = await findView(request, settlement, settlementOf(chainId).depositAddress(EMPTY_QUOTE, '0x'))
  if (answer === undefined) return undefined
  return answer === emptyQuoteAddress(hasher) ? 'right' : 'wrong'
}

/** Says what a wrong PROTOCOL_NAME must be. */
export function wrongName(protocolName: string, chainId: number, settlement: Address): ChainConfigError {
  return new ChainConfigError(
    'PROTOCOL_NAME',
    `is "${protocolName}", but the contract ${settlement} of chain ${chainId} does not hash quotes as ${protocolName}Quote: it must be the name of the contract's quote struct without "Quote"`,
  )
}
