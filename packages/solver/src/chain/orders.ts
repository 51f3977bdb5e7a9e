import { type Address, erc20Abi, type Hex, numberToHex } from 'viem'
import { readView } from '../../../protocol/src/node/read-view.js'
import type { Order } from '../../../protocol/src/orders/order.js'
import { settlementOf } from '../../../protocol/src/settlement/settlement-of-chain.js'
import type { SolverChain } from './open-chain.js'

/** A block that the node must have; the newest one when left out. */
export interface AtBlock {
  readonly blockNumber?: bigint
}

/** Reads an order. Of a token that takes a fee, its input amount is what has arrived. @throws ChainReadError */
export const readOrder = (
  { client, settlement, chainId }: SolverChain,
  orderId: Hex,
  at?: AtBlock,
): Promise<Order> =>
  readView(client.request, settlement, settlementOf(chainId).order(chainId, orderId), nameOf(at))

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
  { client, settlement, chainId }: SolverChain,
  solver: Address,
  nonce: bigint,
  at?: AtBlock,
): Promise<boolean> {
  return readView(client.request, settlement, settlementOf(chainId).nonceUse(solver, nonce), nameOf(at))
}

/** As a parameter of a call. */
export const nameOf = ({ blockNumber }: AtBlock = {}) =>
  blockNumber === undefined ? 'latest' : numberToHex(blockNumber)
