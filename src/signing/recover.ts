import { type DropReason, HALF_ORDER } from '../domain/quotes/offer.js'
import type { Address } from '../domain/values/hex.js'
import { keccak256 } from './keccak.js'
import { loadRecovery, type RecoveryLibrary } from './recovery-library.js'

/** Why OpenZeppelin's ECDSA would reject a signature. */
export type SignatureProblem = Extract<DropReason, `signature_${string}`>

/** 32 bytes. */
const HALF_ORDER_BYTES = Buffer.from(HALF_ORDER.toString(16), 'hex')

const { library, recover } = loadRecovery()

export type { RecoveryLibrary }

/** What recovers signers in this process. */
export const recoveryLibrary: RecoveryLibrary = library

/**
 * Checks a signature as strictly as OpenZeppelin's ECDSA does: 65 bytes r, s, v with `v` 27 or 28 and `s` in the
 * lower half, recovering to the signer (docs/protocol.md, "Signatures").
 * @param digest what was signed, 32 bytes
 * @param signature r, s and v
 * @returns what is wrong with it, or undefined when it is the signer's
 */
export function checkSignature(
  digest: Uint8Array,
  signature: Uint8Array,
  signer: Address,
): SignatureProblem | undefined {
  const problem = problemOf(signature)
  if (problem !== undefined) return problem
  const key = recover(digest, signature.subarray(0, 64), (signature[64] ?? 0) - 27)
  return key !== undefined && addressOf(key) === signer ? undefined : 'signature_mismatch'
}

function problemOf(signature: Uint8Array): SignatureProblem | undefined {
  if (signature.length !== 65) return 'signature_length'
  const v = signature[64]
  if (v !== 27 && v !== 28) return 'signature_v'
  return Buffer.compare(signature.subarray(32, 64), HALF_ORDER_BYTES) > 0 ? 'signature_high_s' : undefined
}

/**
 * The address whose key has made a signature, for an explanation. It accepts more than `checkSignature`: also `v` 0 and 1, and
 * `s` in the upper half.
 * @param digest 32 bytes
 * @returns undefined for another length, another `v`, or when there is no signer
 */
export function recoverAddress(digest: Uint8Array, signature: Uint8Array): Address | undefined {
  const v = signature[64] ?? Number.NaN
  const recoveryId = v < 27 ? v : v - 27
  if (signature.length !== 65 || recoveryId > 1) return undefined
  const publicKey = recover(digest, signature.subarray(0, 64), recoveryId)
  return publicKey && addressOf(publicKey)
}

function addressOf(publicKey: Uint8Array): Address {
  return `0x${Buffer.from(keccak256(publicKey.subarray(1))).toString('hex', 12)}`
}
