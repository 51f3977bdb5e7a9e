import type { BlockHeader } from '../domain/block.js'
import type { Hex } from '../domain/hex.js'

/** A header as JSON-RPC has it. */
export interface RawHeader {
  readonly number: Hex
  readonly hash: Hex
  readonly parentHash: Hex
  readonly timestamp: Hex
}

/** A header with its block's time, Unix time in milliseconds. */
export interface TimedHeader extends BlockHeader {
  readonly timestampMs: number
}

/** Reads a header of JSON-RPC. */
export function toHeader({ number, hash, parentHash, timestamp }: RawHeader): TimedHeader {
  return { number: Number(number), hash, parentHash, timestampMs: Number(timestamp) * 1000 }
}
