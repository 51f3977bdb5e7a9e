import {
  type ContractFunctionArgs,
  encodeAbiParameters,
  type Hex,
  hashStruct,
  keccak256,
  type LocalAccount,
  type TypedDataDomain,
} from 'viem'
import type { settlementAbi } from '../../../gen/contracts/settlement.js'

export type ServiceQuote = ContractFunctionArgs<typeof settlementAbi, 'nonpayable', 'deposit'>[0]

/** The state of an order on the contract. */
export const OrderState = { NONE: 0, DEPOSITED: 1, SETTLED: 2, REFUNDED: 3 } as const

/** The members of the quote struct, in order (docs/protocol.md, "Quote struct"). */
export const QUOTE_MEMBERS = [
  { name: 'solver', type: 'address' },
  { name: 'user', type: 'address' },
  { name: 'inputToken', type: 'address' },
  { name: 'inputAmount', type: 'uint256' },
  { name: 'outputToken', type: 'address' },
  { name: 'outputAmount', type: 'uint256' },
  { name: 'orderType', type: 'uint8' },
  { name: 'outputChainId', type: 'uint256' },
  { name: 'depositDeadline', type: 'uint32' },
  { name: 'fillDeadline', type: 'uint32' },
  { name: 'nonce', type: 'uint256' },
] as const

const quoteTypes = { ServiceQuote: QUOTE_MEMBERS } as const

export function signQuote(signer: LocalAccount, domain: TypedDataDomain, quote: ServiceQuote): Promise<Hex> {
  return signer.signTypedData({ domain, types: quoteTypes, primaryType: 'ServiceQuote', message: quote })
}

/** Computes the order id without the contract (docs/protocol.md, "Order id"). */
export function orderIdOf(quote: ServiceQuote, signature: Hex): Hex {
  const structHash = hashStruct({ data: { ...quote }, types: quoteTypes, primaryType: 'ServiceQuote' })
  return keccak256(
    encodeAbiParameters([{ type: 'bytes32' }, { type: 'bytes32' }], [structHash, keccak256(signature)]),
  )
}
