import {
  type Address,
  type ContractFunctionArgs,
  type ContractFunctionName,
  encodeFunctionData,
  type Hex,
} from 'viem'
import { type Quote, toContractQuote } from '../../../protocol/src/quotes/quote.js'
import { type CALLS_ABI, settlementOf } from '../../../protocol/src/settlement/settlement-of-chain.js'

/** The parameters of viem's `encodeFunctionData`, with the address of the contract. */
export type Call = Parameters<typeof encodeFunctionData>[0] & { readonly address: Address }

/** A call of the settlement contract (docs/protocol.md, "Contract calls"). */
export function settlementCall<N extends ContractFunctionName<typeof CALLS_ABI, 'nonpayable'>>(
  { chainId, settlement }: { readonly chainId: number; readonly settlement: Address },
  functionName: N,
  args: ContractFunctionArgs<typeof CALLS_ABI, 'nonpayable', N>,
): Call {
  const abi = settlementOf(chainId).CALLS_ABI
  return { address: settlement, abi, functionName, args: args as readonly unknown[] }
}

/** A call by an account, as nodes simulate it. */
export function requestOf(account: Address, call: Call) {
  return { account, to: call.address, data: encodeFunctionData(call) }
}

/** The call that pays the order of a quote whose input lies at its deposit address. */
export function settleCall(
  chain: { readonly chainId: number; readonly settlement: Address },
  { quote, signature }: { readonly quote: Quote; readonly signature: Hex },
): Call {
  return settlementCall(chain, 'settle', [toContractQuote(quote), signature])
}
