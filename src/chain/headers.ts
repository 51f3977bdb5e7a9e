import type { BlockHeader } from '../domain/block.js'
import type { Hex } from '../domain/hex.js'

/** A header in JSON-RPC form. */
export interface RawHeader {
  readonly number: Hex
  readonly hash: Hex
  readonly parentHash: Hex
  readonly timestamp: Hex
  readonly logsBloom?: Hex | null
  readonly receiptsRoot?: Hex | null
}

/** A header with its block's time, Unix time in milliseconds. */
export interface TimedHeader extends BlockHeader {
  readonly timestampMs: number
  /** The bloom filter over the block's logs, 256 bytes; all zero or undefined when the chain has none. */
  readonly logsBloom?: Hex
  /** Whether the block has no transactions, and so no logs. */
  readonly isEmpty?: boolean
}

/** The root of a trie without entries: Keccak-256 of the RLP of an empty string (Yellow Paper, appendix D). */
const EMPTY_TRIE_ROOT = '0x56e81f171bcc55a6ff8345e692c0f86e5b48e01b996cadc001622fb5e363b421'

/** Parses a JSON-RPC header. */
export function toHeader({
  number,
  hash,
  parentHash,
  timestamp,
  logsBloom,
  receiptsRoot,
}: RawHeader): TimedHeader {
  return {
    number: Number(number),
    hash,
    parentHash,
    timestampMs: Number(timestamp) * 1000,
    ...(logsBloom ? { logsBloom } : {}),
    ...(receiptsRoot === EMPTY_TRIE_ROOT ? { isEmpty: true } : {}),
  }
}
