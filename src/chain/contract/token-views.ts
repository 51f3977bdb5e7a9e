import { type PublicClient, toFunctionSelector } from 'viem'
import { simulate } from '../../../packages/protocol/src/read-view.js'
import { DECIMALS } from '../../domain/field-rules.js'
import { isDisplayName } from '../../domain/values/display-name.js'
import { type Address, type Hex, toQuantity } from '../../domain/values/hex.js'

/**
 * Gas of one call. It bounds what a hostile token costs: some milliseconds, and an answer of half a megabyte. The views of
 * known tokens need a tenth of it, also behind a proxy.
 */
const VIEW_GAS = 500_000

const WORD = 32
/** Offset and length come before the bytes of a `string`. */
const STRING_START = 2 * WORD
/** A display name is shorter, also when each character has four bytes. */
const MAX_SYMBOL_BYTES = 256

/** The bytes that a view of a token returns; none when the contract reverts, or returns nothing. @throws ChainReadError */
export async function readTokenView(
  { request }: Pick<PublicClient, 'request'>,
  to: Address,
  name: 'symbol' | 'decimals',
): Promise<Hex> {
  const call = { to, data: toFunctionSelector(`${name}()`), gas: toQuantity(VIEW_GAS) }
  return (await simulate(request, call, name)) ?? '0x'
}

/**
 * The symbol in the answer of `symbol()`: a `string`, or the `bytes32` of old tokens, which zeros fill up.
 * @returns undefined when it is neither, no UTF-8, or no display name (docs/decisions.md, D5)
 */
export function parseSymbolAnswer(answer: Hex): string | undefined {
  const bytes = Buffer.from(answer.slice(2, 2 + 2 * (STRING_START + MAX_SYMBOL_BYTES)), 'hex')
  const text = bytes.length === WORD ? withoutEndingZeros(bytes) : stringIn(bytes)
  const symbol = text && decodeUtf8(text)
  return symbol !== undefined && isDisplayName(symbol) ? symbol : undefined
}

/** The number in the answer of `decimals()`; undefined when it is not valid in ERC-20. */
export function parseDecimalsAnswer(answer: Hex): number | undefined {
  const decimals = integerAt(Buffer.from(answer.slice(2, 2 + 2 * WORD), 'hex'), 0)
  return decimals <= DECIMALS.maximum ? decimals : undefined
}

/** The bytes of an ABI-encoded `string`; undefined when it is longer than any symbol or incomplete. */
function stringIn(bytes: Buffer): Buffer | undefined {
  const end = STRING_START + integerAt(bytes, WORD)
  return integerAt(bytes, 0) === WORD && end <= bytes.length ? bytes.subarray(STRING_START, end) : undefined
}

/** The integer in the word at a position; infinity when it is incomplete or large. */
function integerAt(bytes: Buffer, start: number): number {
  const word = bytes.subarray(start, start + WORD)
  const isSmall = word.length === WORD && word.subarray(0, -4).every((byte) => byte === 0)
  return isSmall ? word.readUInt32BE(WORD - 4) : Number.POSITIVE_INFINITY
}

function withoutEndingZeros(bytes: Buffer): Buffer {
  return bytes.subarray(0, bytes.findLastIndex((byte) => byte !== 0) + 1)
}

function decodeUtf8(bytes: Buffer): string | undefined {
  try {
    return new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(bytes)
  } catch {
    return undefined
  }
}
