import { type Address, erc20Abi, type Hex, numberToHex, zeroAddress } from 'viem'
import type { KnownOrder, OrderState } from '../../../../src/domain/order.js'
import { nonceUse, order as orderView } from '../../../protocol/src/deployed-settlement.js'
import { readView } from '../../../protocol/src/read-view.js'
import type { SolverChain } from './open-chain.js'

/**
 * What the contract knows of an order, in lower case. The input amount is what has arrived: of a token that takes a fee, it may be
 * less than was quoted.
 */
export type ChainOrder = Pick<KnownOrder, 'solver' | 'inputAmount' | 'fillDeadline'> & {
  readonly state: OrderState
}

const NO_ORDER: ChainOrder = { state: 'NONE', solver: zeroAddress, inputAmount: 0n, fillDeadline: 0 }

/** A block that the node must have; the newest one when left out. */
export interface AtBlock {
  readonly blockNumber?: bigint
}

/** Reads an order. @throws ChainReadError */
export async function readOrder(
  { client, settlement, chainId }: SolverChain,
  orderId: Hex,
  at?: AtBlock,
): Promise<ChainOrder> {
  const order = await readView(client.request, settlement, orderView(chainId, orderId), nameOf(at))
  return order.state === 'NONE' ? NO_ORDER : order
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

/** Whether a nonce of a quote was cancelled, or used by an order. @throws ChainReadError */
export function isNonceUsed(
  { client, settlement }: SolverChain,
  solver: Address,
  nonce: bigint,
  at?: AtBlock,
): Promise<boolean> {
  return readView(client.request, settlement, nonceUse(solver, nonce), nameOf(at))
}

const nameOf = ({ blockNumber }: AtBlock = {}) =>
  blockNumber === undefined ? 'latest' : numberToHex(blockNumber)
