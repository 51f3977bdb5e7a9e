import type { View } from '../settlement/settlement.js'
import type { Address, Hex } from '../values/hex.js'
import { ChainReadError, oddAnswer, unreadable } from './chain-read-error.js'
import { numberIn } from './parse-blocks.js'
import { type BlockName, type Request, simulate } from './simulate.js'

/**
 * Reads a view that the contract must have.
 * @throws ChainReadError, also when the contract does not have it
 */
export async function readView<T>(
  request: Request,
  contract: Address,
  view: View<T>,
  at?: BlockName,
): Promise<T> {
  const value = await findView(request, contract, view, at)
  if (value !== undefined) return value
  throw new ChainReadError('absent', `${contract} has no ${view.name}`)
}

/**
 * Reads a view that not every contract has (docs/decisions.md, D22).
 * @param at the latest block when left out
 * @returns undefined when the contract does not have it. Only a revert says so, or no data at all, as `simulate` returns them
 * @throws ChainReadError
 */
export async function findView<T>(
  request: Request,
  contract: Address,
  { name, data, decode }: View<T>,
  at?: BlockName,
): Promise<T | undefined> {
  const answer = await simulate(request, { to: contract, data }, name, at)
  try {
    return answer && answer !== '0x' ? decode(answer) : undefined
  } catch {
    throw unreadable(name, oddAnswer(answer))
  }
}

/** Reads which chain a node serves. @throws ChainReadError */
export async function readChainId(request: Request): Promise<number> {
  try {
    const answer = await request({ method: 'eth_chainId', params: [] })
    const chainId = numberIn(answer)
    if (chainId !== undefined) return chainId
    throw oddAnswer(answer)
  } catch (error) {
    throw unreadable('the chain id', error)
  }
}

/**
 * Reads the newest block of a chain: its number, and its time in Unix seconds.
 * @throws ChainReadError, also when the node serves another chain: a wallet's provider changes it when its user does
 */
export async function readNewestBlock(
  request: Request,
  chainId: number,
): Promise<{ readonly number: Hex; readonly time: number }> {
  const [served, block] = await Promise.all([
    request({ method: 'eth_chainId', params: [] }),
    request({ method: 'eth_getBlockByNumber', params: ['latest', false] }),
  ]).catch((error) => {
    throw unreadable('the newest block', error)
  })
  const { number, timestamp } = Object(block)
  const time = Number(timestamp)
  if (Number(served) === chainId && time > 0) return { number, time }
  throw oddAnswer({ chainId: served, timestamp })
}
