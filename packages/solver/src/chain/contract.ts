import {
  type Address,
  type ContractFunctionArgs,
  type ContractFunctionName,
  encodeFunctionData,
  erc20Abi,
  type Hex,
  type LogTopic,
  numberToHex,
  type PublicClient,
} from 'viem'
import { isForSize } from '../../../chain/src/block-ranges.js'
import { rpcErrorIn } from '../../../chain/src/json-rpc.js'
import { isNodeAnswer } from '../../../protocol/src/node/node-answer.js'
import { logsIn } from '../../../protocol/src/node/parse-blocks.js'
import { readView } from '../../../protocol/src/node/read-view.js'
import type { Order } from '../../../protocol/src/orders/order.js'
import { type Offer, toContractQuote } from '../../../protocol/src/quotes/quote.js'
import { type CALLS_ABI, settlementOf } from '../../../protocol/src/settlement/settlement-of-chain.js'
import { toQuantity } from '../../../protocol/src/values/hex.js'

/** The parameters of viem's `encodeFunctionData`, with the address of the contract. */
export type Call = Parameters<typeof encodeFunctionData>[0] & { readonly address: Address }

/** A settlement contract, and the node that shows it. */
interface Contract {
  readonly chainId: number
  /** In lower case. */
  readonly settlement: Address
  readonly client: PublicClient
}

/** A call of the settlement contract (docs/protocol.md, "Contract calls"). */
export function settlementCall<N extends ContractFunctionName<typeof CALLS_ABI, 'nonpayable'>>(
  { chainId, settlement }: Omit<Contract, 'client'>,
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
export function settleCall(chain: Omit<Contract, 'client'>, { quote, signature }: Offer): Call {
  return settlementCall(chain, 'settle', [toContractQuote(quote), signature])
}

/** A block that the node must have; the newest one when left out. */
export interface AtBlock {
  readonly blockNumber?: bigint
}

/** Reads an order. Of a token that takes a fee, its input amount is what has arrived. @throws ChainReadError */
export const readOrder = (
  { client, settlement, chainId }: Contract,
  orderId: Hex,
  at?: AtBlock,
): Promise<Order> =>
  readView(client.request, settlement, settlementOf(chainId).order(chainId, orderId), nameOf(at))

/** The balance of an address in a token. @throws viem's errors */
export const readBalance = ({ client }: Contract, token: Address, owner: Address, at?: AtBlock) =>
  client.readContract({ address: token, abi: erc20Abi, functionName: 'balanceOf', args: [owner], ...at })

/** How much of a token the settlement contract may take. @throws viem's errors */
export const readAllowance = (
  { client, settlement }: Contract,
  token: Address,
  owner: Address,
  at?: AtBlock,
) =>
  client.readContract({
    address: token,
    abi: erc20Abi,
    functionName: 'allowance',
    args: [owner, settlement],
    ...at,
  })

/** Whether a nonce of a quote was cancelled, or used by an order. @throws ChainReadError */
export const isNonceUsed = (
  { client, settlement, chainId }: Contract,
  solver: Address,
  nonce: bigint,
  at?: AtBlock,
): Promise<boolean> =>
  readView(client.request, settlement, settlementOf(chainId).nonceUse(solver, nonce), nameOf(at))

/** As a parameter of a call. */
export const nameOf = ({ blockNumber }: AtBlock = {}) =>
  blockNumber === undefined ? 'latest' : numberToHex(blockNumber)

/** Blocks that are read at once, where the node allows so many. */
export const MAX_RANGE = 1_000

/** Both blocks included. */
export interface BlockRange {
  readonly from: number
  readonly to: number
}

/** Reads logs of contracts. @throws viem's errors */
export async function readLogs(
  { client }: Contract,
  { from, to }: BlockRange,
  topics: LogTopic[],
  ...contracts: Address[]
) {
  // Some nodes take no lists of addresses.
  const address = contracts.length === 1 ? contracts[0] : contracts
  const filter = { address, topics, fromBlock: toQuantity(from), toBlock: toQuantity(to) }
  return logsIn(await client.request({ method: 'eth_getLogs', params: [filter] }), ...contracts)
}

/** As `isForSize`, also for the errors of a market maker's own transport. */
export const onFailed = (error: unknown) =>
  rpcErrorIn(error) === undefined ? isNodeAnswer(error) : isForSize(error)
