import type { Address } from '../domain/hex.js'
import type { Quote } from '../domain/quote.js'
import type { QuoteHasher } from '../signing/typed-data.js'
import type { Settlement } from './settlement.js'

/** Whether PROTOCOL_NAME matches the contract; `unknown` when no view of the contract shows it. */
export type ProtocolNameCheck = 'right' | 'wrong' | 'unknown'

const NO_ADDRESS: Address = `0x${'00'.repeat(20)}`
/** A quote of zeros is enough, because the name is part of every quote's hash. */
const EMPTY_QUOTE: Quote = {
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

/**
 * Compares the contract's deposit address of an empty quote with the hasher's. Both depend on the type hash, and so on
 * PROTOCOL_NAME.
 * @throws viem's errors when the chain does not answer
 */
export async function checkProtocolName(
  settlement: Pick<Settlement, 'readDepositAddress'>,
  hasher: QuoteHasher,
): Promise<ProtocolNameCheck> {
  const answer = await settlement.readDepositAddress(EMPTY_QUOTE, '0x')
  if (answer === undefined) return 'unknown'
  const { depositAddress } = hasher.identify(hasher.hash(EMPTY_QUOTE).structHash, new Uint8Array())
  return answer === depositAddress ? 'right' : 'wrong'
}

/** Says what a wrong PROTOCOL_NAME must be. */
export function explainWrongName(protocolName: string, chainId: number, settlement: Address): string {
  return `is "${protocolName}", but the contract ${settlement} of chain ${chainId} does not hash quotes as ${protocolName}Quote: it must be the name of the contract's quote struct without "Quote"`
}
