import {
  type Address,
  type ContractFunctionArgs,
  type ContractFunctionName,
  encodeFunctionData,
  type Hex,
  toFunctionSelector,
} from 'viem'
import { revertOf } from '../../../protocol/src/node/revert.js'
import { type Quote, toContractQuote } from '../../../protocol/src/quotes/quote.js'
import { CONTRACT_REFUSALS } from '../../../protocol/src/quotes/verification.js'
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

/** The errors with which the reference contract and deployed ones refuse the calls of a solver, by selector. */
const REFUSALS = new Map(
  [
    ...CONTRACT_REFUSALS.filter((error) => error.endsWith(')')),
    'FillDeadlinePassed(uint32)',
    'InsufficientDeposit()',
    'NothingDeposited(bytes32)',
    'OrderNotDeposited()',
    'OrderNotDeposited(bytes32)',
    'SafeERC20FailedOperation(address)',
  ].map((error) => [toFunctionSelector(error), error]),
)

/** An error of a call with the name of the contract's own, where that is known. */
export function named(error: unknown, { functionName }: Call): unknown {
  const name = REFUSALS.get(revertOf(error)?.data.slice(0, 10) as Hex)
  return name === undefined ? error : new Error(`${functionName} is refused with ${name}`, { cause: error })
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
