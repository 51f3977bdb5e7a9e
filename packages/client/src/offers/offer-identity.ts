import { type Address, concat, getContractAddress, type Hex, hashStruct, keccak256 } from 'viem'
import {
  QUOTE_MEMBERS,
  type Quote,
  quoteTypeName,
  type SignedQuote,
  toContractQuote,
} from '../../../protocol/src/quotes/quote.js'

/** The facts of a settlement contract that identify its offers, a part of `SettlementTerms`. */
interface ContractTerms {
  readonly settlement: Address
  readonly protocolName: string
  readonly depositProxyCodeHash: Hex
}

/** What identifies an offer. */
export type OfferIdentity = Pick<SignedQuote, 'orderId' | 'depositAddress'>

/** Computes what identifies an offer of a chain. @returns undefined for another chain, and for values that fit no contract */
export type IdentifyOffer = (chainId: number, quote: Quote, signature: Hex) => OfferIdentity | undefined

/**
 * Makes the option `identifyOffer` of a client, for other instances of the protocol: their offers have no order id, and a deposit
 * address only for deposit mode ADDRESS.
 * @param settlements the contract of each chain, as `readSettlement` describes it
 */
export function identifyOffers(
  ...settlements: readonly (ContractTerms & { readonly chainId: number })[]
): IdentifyOffer {
  return (chainId, quote, signature) => {
    const terms = settlements.find((settlement) => settlement.chainId === chainId)
    try {
      return terms && identifyOffer(quote, signature, terms)
    } catch {
      return undefined
    }
  }
}

/** A quote as EIP-712 takes it. */
export function typedQuote(quote: Quote, protocolName: string) {
  const primaryType = quoteTypeName(protocolName)
  return { types: { [primaryType]: QUOTE_MEMBERS }, primaryType, message: toContractQuote(quote) }
}

/**
 * Computes the order id and the deposit address of an offer, as the contract does (docs/decisions.md, D4).
 * @throws viem's errors when a member of the quote does not fit its type
 */
export function identifyOffer(
  quote: Quote,
  signature: Hex,
  { settlement, protocolName, depositProxyCodeHash }: ContractTerms,
): OfferIdentity {
  const typed = typedQuote(quote, protocolName)
  const structHash = hashStruct({ ...typed, data: typed.message })
  const orderId = keccak256(concat([structHash, keccak256(signature)]))
  const depositAddress = getContractAddress({
    opcode: 'CREATE2',
    from: settlement,
    salt: orderId,
    bytecodeHash: depositProxyCodeHash,
  })
  return { orderId, depositAddress }
}
