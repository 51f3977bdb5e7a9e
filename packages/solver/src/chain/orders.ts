import { type Address, encodeFunctionData, erc20Abi, type Hex } from 'viem'
import { lowerCase } from '../../../../src/domain/hex.js'
import { type Quote, toContractQuote } from '../../../../src/domain/quote.js'
import type { NonceWord } from '../nonces.js'
import type { SolverChain } from './open-chain.js'
import { settlementAbi } from './settlement-abi.js'

/** What the contract knows of an order. */
export interface ChainOrder {
  readonly state: 'NONE' | 'DEPOSITED' | 'SETTLED' | 'REFUNDED'
  /** Lower case. */
  readonly solver: Address
  /** What has arrived of a token that takes a fee may be less than was quoted. */
  readonly inputAmount: bigint
  /** Unix time in seconds. */
  readonly fillDeadline: number
}

/** In the contract's order (docs/decisions.md, D6). */
const STATES = ['NONE', 'DEPOSITED', 'SETTLED', 'REFUNDED'] as const

/** A block that the node must have; the newest one when left out. */
export interface AtBlock {
  readonly blockNumber?: bigint
}

/** The parameters of viem's `encodeFunctionData`, with the address of the contract. */
export type Call = Parameters<typeof encodeFunctionData>[0] & { readonly address: Address }

/** A call by an account, as nodes simulate it. */
export function requestOf(account: Address, call: Call) {
  return { account, to: call.address, data: encodeFunctionData(call) }
}

/** Reads an order at the head of the chain. @throws viem's errors */
export async function readOrder({ client, settlement }: SolverChain, orderId: Hex): Promise<ChainOrder> {
  const call = { address: settlement, abi: settlementAbi, functionName: 'orders', args: [orderId] } as const
  const order = await client.readContract(call)
  const state = STATES[order[8]]
  if (state === undefined) throw new Error(`order ${orderId} has the unknown state ${order[8]}`)
  return { state, solver: lowerCase(order[1]), inputAmount: order[3], fillDeadline: order[7] }
}

/** The balance of an address in a token. @throws viem's errors */
export function readBalance(
  { client }: SolverChain,
  token: Address,
  owner: Address,
  at: AtBlock = {},
): Promise<bigint> {
  const call = { address: token, abi: erc20Abi, functionName: 'balanceOf', args: [owner] } as const
  return client.readContract({ ...call, ...at })
}

/** The call that pays an order that was deposited at the contract. */
export function fillCall({ settlement }: SolverChain, orderId: Hex) {
  return { address: settlement, abi: settlementAbi, functionName: 'fill', args: [orderId] } as const
}

/** The call that pays an order whose input lies at its deposit address. */
export function settleCall({ settlement }: SolverChain, quote: Quote, signature: Hex) {
  const args = [toContractQuote(quote), signature] as const
  return { address: settlement, abi: settlementAbi, functionName: 'settle', args } as const
}

/** The call that makes an unused quote worthless. It reverts for a nonce that was used. */
export function cancelCall({ settlement }: SolverChain, nonce: bigint) {
  return { address: settlement, abi: settlementAbi, functionName: 'cancelNonce', args: [nonce] } as const
}

/** The call that makes all unused quotes of a word of nonces worthless. Not on every contract; it emits no event. */
export function cancelWordCall({ settlement }: Pick<SolverChain, 'settlement'>, { word, mask }: NonceWord) {
  const args = [word, mask] as const
  return { address: settlement, abi: settlementAbi, functionName: 'cancelNonces', args } as const
}

/** The call that gives a user tokens at a deposit address after the fill deadline. */
export function refundCall({ settlement }: SolverChain, quote: Quote, signature: Hex) {
  const args = [toContractQuote(quote), signature] as const
  return { address: settlement, abi: settlementAbi, functionName: 'refundAddressDeposit', args } as const
}

/** Whether a nonce of a quote was cancelled, or used by an order. @throws viem's errors */
export function isNonceUsed(
  { client, settlement }: SolverChain,
  solver: Address,
  nonce: bigint,
  at: AtBlock = {},
): Promise<boolean> {
  const call = { address: settlement, abi: settlementAbi, functionName: 'isNonceUsed' } as const
  return client.readContract({ ...call, args: [solver, nonce], ...at })
}
