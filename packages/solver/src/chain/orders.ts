import { type Address, erc20Abi, type Hex } from 'viem'
import { lowerCase } from '../../../../src/domain/hex.js'
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
