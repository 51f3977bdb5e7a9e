import type { Address, Hex } from '../domain/hex.js'
import { ORDER_TYPES, type Quote } from '../domain/quote.js'
import { keccak256 } from './keccak.js'

/** What a settlement contract says of itself, read once; all that hashing its quotes takes. */
export interface SettlementDomain {
  readonly settlement: Address
  /** EIP-712 domain separator, 32 bytes. */
  readonly domainSeparator: Hex
  /** `DEPOSIT_PROXY_CREATION_CODE_HASH`, 32 bytes. */
  readonly depositProxyCodeHash: Hex
}

/** Hashes the quotes of one settlement contract exactly as the contract does (EIP-712, settlement.md). */
export interface QuoteHasher {
  /** @returns the quote's struct hash and the digest that the solver signs, 32 bytes each */
  hash(quote: Quote): { structHash: Uint8Array; digest: Uint8Array }
  /** @returns the order's id and its CREATE2 deposit address (EIP-1014) */
  identify(structHash: Uint8Array, signature: Uint8Array): { orderId: Hex; depositAddress: Address }
}

const MEMBERS = [
  'address solver',
  'address user',
  'address inputToken',
  'uint256 inputAmount',
  'address outputToken',
  'uint256 outputAmount',
  'uint8 orderType',
  'uint256 outputChainId',
  'uint32 depositDeadline',
  'uint32 fillDeadline',
  'uint256 nonce',
]

/**
 * Builds the hasher of one settlement contract.
 * @param protocolName gives the primary type, `<name>Quote` (decisions.md D1)
 */
export function createQuoteHasher(protocolName: string, domain: SettlementDomain): QuoteHasher {
  const typeHash = keccak256(Buffer.from(`${protocolName}Quote(${MEMBERS.join(',')})`))
  const digestPrefix = Buffer.from(`1901${domain.domainSeparator.slice(2)}`, 'hex')
  const create2Prefix = Buffer.from(`ff${domain.settlement.slice(2)}`, 'hex')
  const proxyCodeHash = Buffer.from(domain.depositProxyCodeHash.slice(2), 'hex')

  return {
    hash(quote) {
      const structHash = keccak256(encode(typeHash, quote))
      return { structHash, digest: keccak256(Buffer.concat([digestPrefix, structHash])) }
    },
    identify(structHash, signature) {
      const orderId = keccak256(Buffer.concat([structHash, keccak256(signature)]))
      const create2 = keccak256(Buffer.concat([create2Prefix, orderId, proxyCodeHash]))
      return {
        orderId: `0x${Buffer.from(orderId).toString('hex')}`,
        depositAddress: `0x${Buffer.from(create2).toString('hex', 12)}`,
      }
    },
  }
}

/** `abi.encode(typeHash, ...members)`: every member is static, so each fills one word. */
function encode(typeHash: Uint8Array, quote: Quote): Buffer {
  const words = [
    quote.solver.slice(2),
    quote.user.slice(2),
    quote.inputToken.slice(2),
    quote.inputAmount.toString(16),
    quote.outputToken.slice(2),
    quote.outputAmount.toString(16),
    ORDER_TYPES.indexOf(quote.orderType).toString(16),
    quote.outputChainId.toString(16),
    quote.depositDeadline.toString(16),
    quote.fillDeadline.toString(16),
    quote.nonce.toString(16),
  ]
  const encoded = Buffer.allocUnsafe(32 * (1 + words.length))
  encoded.set(typeHash)
  words.forEach((word, index) => {
    encoded.write(word.padStart(64, '0'), 32 * (index + 1), 'hex')
  })
  return encoded
}
