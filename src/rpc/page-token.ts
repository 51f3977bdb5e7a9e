import { hash } from 'node:crypto'
import type { OrderFilter, OrderPosition } from '../domain/order.js'

const DIGEST_LENGTH = 8
const TOKEN = /^([0-9a-z]{1,11})-([0-9a-z]{1,11})-([0-9a-f]{64})-([\w-]{8})$/

/**
 * Writes the token of the page after a position (AIP-158). It is opaque to callers and safe in URLs. It contains a digest of
 * the chain and the filters, so that a token is valid only with those of its page.
 */
export function writePageToken(
  { blockNumber, logIndex, orderId }: OrderPosition,
  chainId: number,
  filter: OrderFilter,
): string {
  const position = [blockNumber.toString(36), logIndex.toString(36), orderId.slice(2)]
  return [...position, digestOf(chainId, filter)].join('-')
}

/** @returns the position of a token; undefined when it is not a token of these filters */
export function readPageToken(
  token: string,
  chainId: number,
  filter: OrderFilter,
): OrderPosition | undefined {
  const [, block = '', index = '', id, digest] = TOKEN.exec(token) ?? []
  const [blockNumber, logIndex] = [Number.parseInt(block, 36), Number.parseInt(index, 36)]
  const isPosition = Number.isSafeInteger(blockNumber) && Number.isSafeInteger(logIndex)
  if (!isPosition || digest !== digestOf(chainId, filter)) return undefined
  return { blockNumber, logIndex, orderId: `0x${id}` }
}

function digestOf(chainId: number, { user, solver, state }: OrderFilter): string {
  return hash('sha256', JSON.stringify([chainId, user, solver, state]), 'base64url').slice(0, DIGEST_LENGTH)
}
