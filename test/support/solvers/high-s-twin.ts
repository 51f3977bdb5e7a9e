import { secp256k1 } from '@noble/curves/secp256k1'

/** The other signature by the same key over the same digest: s in the upper half, v swapped (65 bytes of hex). */
export function highSTwin(signature: string): string {
  const s = secp256k1.CURVE.n - BigInt(`0x${signature.slice(66, 130)}`)
  const v = signature.endsWith('1b') ? '1c' : '1b'
  return `${signature.slice(0, 66)}${s.toString(16).padStart(64, '0')}${v}`
}
