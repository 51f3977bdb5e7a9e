import type { BlockHeader } from '../domain/block.js'
import type { Hex } from '../domain/hex.js'

/** A header as JSON-RPC has it. */
export interface RawHeader {
  readonly number: Hex
  readonly hash: Hex
  readonly parentHash: Hex
  readonly timestamp: Hex
  readonly logsBloom?: Hex | null
}

/** A header with its block's time, Unix time in milliseconds. */
export interface TimedHeader extends BlockHeader {
  readonly timestampMs: number
  /** The bloom filter over the block's logs, 256 bytes; all zero or undefined where the chain keeps none. */
  readonly logsBloom?: Hex
}

/** Reads a header of JSON-RPC. */
export function toHeader({ number, hash, parentHash, timestamp, logsBloom }: RawHeader): TimedHeader {
  const header = { number: Number(number), hash, parentHash, timestampMs: Number(timestamp) * 1000 }
  return logsBloom ? { ...header, logsBloom } : header
}
