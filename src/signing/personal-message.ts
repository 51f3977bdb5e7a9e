import { keccak256 } from './keccak.js'

/** The digest that a wallet signs for a personal message (EIP-191, version 0x45): 32 bytes. */
export function personalMessageDigest(message: string): Uint8Array {
  const text = Buffer.from(message)
  return keccak256(Buffer.concat([Buffer.from(`\x19Ethereum Signed Message:\n${text.length}`), text]))
}
