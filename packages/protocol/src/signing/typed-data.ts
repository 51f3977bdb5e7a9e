import { createKeccak } from 'hash-wasm'
import { LRUCache } from 'lru-cache'
import { keccak256 as hashInJavaScript } from 'viem'
import { ORDER_TYPES, QUOTE_MEMBERS, type Quote, quoteTypeName } from '../quotes/quote.js'
import type { Address, Hex } from '../values/hex.js'

/** The values of a settlement contract that the hashes of its quotes depend on. They are read once. */
export interface SettlementDomain {
  readonly settlement: Address
  /** EIP-712 domain separator, 32 bytes. */
  readonly domainSeparator: Hex
  /** `DEPOSIT_PROXY_CREATION_CODE_HASH`, 32 bytes. */
  readonly depositProxyCodeHash: Hex
}

/** Hashes the quotes of one settlement contract exactly as the contract does (EIP-712; docs/protocol.md, "Quote struct"). */
export interface QuoteHasher {
  /** @returns the quote's struct hash and the digest that the solver signs, 32 bytes each */
  hash(quote: Quote): { readonly structHash: Uint8Array; readonly digest: Uint8Array }
  /** @returns the order's id and its CREATE2 deposit address (EIP-1014) */
  identify(
    structHash: Uint8Array,
    signature: Uint8Array,
  ): { readonly orderId: Hex; readonly depositAddress: Address }
}

const WORD = 32
const ADDRESS_BYTES = 20
const ZERO_WORD = '00'.repeat(WORD)

/** The type hash of a protocol's quotes (EIP-712), 32 bytes. */
export function quoteTypeHash(protocolName: string): Uint8Array {
  const members = QUOTE_MEMBERS.map(({ name, type }) => `${type} ${name}`)
  return keccak256(Buffer.from(`${quoteTypeName(protocolName)}(${members.join(',')})`))
}

/**
 * Builds the hasher of one settlement contract.
 * @param protocolName the primary type without `Quote` (docs/decisions.md, D1)
 */
export function createQuoteHasher(protocolName: string, domain: SettlementDomain): QuoteHasher {
  const typeHash = quoteTypeHash(protocolName)
  // One buffer for all quotes: hashing is synchronous, so no two quotes use it at the same time.
  const struct = Buffer.concat([typeHash, Buffer.alloc(WORD * QUOTE_MEMBERS.length)])
  const typedData = Buffer.from(`1901${domain.domainSeparator.slice(2)}${ZERO_WORD}`, 'hex')
  const order = Buffer.alloc(2 * WORD)
  const proxyCodeHash = domain.depositProxyCodeHash.slice(2)
  const create2 = Buffer.from(`ff${domain.settlement.slice(2)}${ZERO_WORD}${proxyCodeHash}`, 'hex')

  return {
    hash(quote) {
      writeQuote(struct, quote)
      const structHash = keccak256(struct)
      typedData.set(structHash, 2 + WORD)
      return { structHash, digest: keccak256(typedData) }
    },
    identify(structHash, signature) {
      order.set(structHash)
      order.set(keccak256(signature), WORD)
      const orderId = keccak256(order)
      create2.set(orderId, 1 + ADDRESS_BYTES)
      return { orderId: toHex(orderId), depositAddress: toHex(keccak256(create2), WORD - ADDRESS_BYTES) }
    },
  }
}

/** `abi.encode(typeHash, ...members)`: every member is static and fills one word, after the word of the type hash. */
function writeQuote(struct: Buffer, quote: Quote): void {
  struct.fill(0, WORD)
  writeAddress(struct, 1, quote.solver)
  writeAddress(struct, 2, quote.user)
  writeAddress(struct, 3, quote.inputToken)
  writeUint256(struct, 4, quote.inputAmount)
  writeAddress(struct, 5, quote.outputToken)
  writeUint256(struct, 6, quote.outputAmount)
  writeSafeInteger(struct, 7, ORDER_TYPES.indexOf(quote.orderType))
  writeSafeInteger(struct, 8, quote.outputChainId)
  writeSafeInteger(struct, 9, quote.depositDeadline)
  writeSafeInteger(struct, 10, quote.fillDeadline)
  writeUint256(struct, 11, quote.nonce)
}

/** Writes into a word of zeros, like all writers of members. */
function writeAddress(buffer: Buffer, word: number, address: Address): void {
  buffer.write(address.slice(2), WORD * (word + 1) - ADDRESS_BYTES, 'hex')
}

function writeUint256(buffer: Buffer, word: number, value: bigint): void {
  const digits = value.toString(16)
  const hex = digits.length % 2 === 0 ? digits : `0${digits}`
  buffer.write(hex, WORD * (word + 1) - hex.length / 2, 'hex')
}

function writeSafeInteger(buffer: Buffer, word: number, value: number): void {
  const end = WORD * (word + 1)
  buffer.writeUInt32BE(Math.floor(value / 2 ** 32), end - 8)
  buffer.writeUInt32BE(value % 2 ** 32, end - 4)
}

function toHex(bytes: Uint8Array, start = 0): Hex {
  return `0x${Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length).toString('hex', start)}`
}

type Hash = (data: Uint8Array) => Uint8Array

/** Until the WebAssembly is compiled, a few milliseconds after the start. */
let hash: Hash = (data) => hashInJavaScript(data, 'bytes')

/** Resolves when `keccak256` uses WebAssembly. */
export const usesWebAssembly = createKeccak(256).then((hasher) => {
  hash = (data) => hasher.init().update(data).digest('binary')
})

/** Keccak-256 of `data`: 32 bytes. The WebAssembly version takes about a third of the time of a JavaScript one. */
export function keccak256(data: Uint8Array): Uint8Array {
  return hash(data)
}

const MAX_KNOWN = 4096
const LETTER_A = 0x61
const LOWER_TO_UPPER = 0x20

const known = new LRUCache<Address, Address>({ max: MAX_KNOWN })

/** An address in EIP-55 form. For an address that occurs once, such as a deposit address. */
export function toChecksumAddress(address: Address): Address {
  const text = Buffer.from(address.toLowerCase(), 'latin1')
  const hash = keccak256(text.subarray(2))
  for (let index = 2; index < text.length; index++) {
    const character = text[index] as number
    const pair = hash[(index - 2) >> 1] as number
    const nibble = index % 2 === 0 ? pair >> 4 : pair & 0xf
    if (character >= LETTER_A && nibble >= 8) text[index] = character - LOWER_TO_UPPER
  }
  return text.toString('latin1') as Address
}

/** An address in EIP-55 form. For an address that occurs often, such as a token's or a solver's. */
export function toCachedChecksumAddress(address: Address): Address {
  const cached = known.get(address)
  if (cached !== undefined) return cached
  const checksummed = toChecksumAddress(address)
  known.set(address, checksummed)
  return checksummed
}
