import { secp256k1 as noble } from '@noble/curves/secp256k1'
import { type DropReason, HALF_ORDER } from '../quotes/offer.js'
import type { Address } from '../values/hex.js'
import { loadPackageRecovery, type RecoverPublicKey } from './package-recovery.js'
import { keccak256 } from './typed-data.js'

/** The digest that a wallet signs for a personal message (EIP-191, version 0x45): 32 bytes. */
export function personalMessageDigest(message: string): Uint8Array {
  const text = Buffer.from(message)
  return keccak256(Buffer.concat([Buffer.from(`\x19Ethereum Signed Message:\n${text.length}`), text]))
}

/** Why OpenZeppelin's ECDSA would reject a signature. */
type SignatureProblem = Extract<DropReason, `signature_${string}`>

/** 32 bytes. */
const HALF_ORDER_BYTES = Buffer.from(HALF_ORDER.toString(16), 'hex')

const { library, recover } = loadRecovery()

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
 * The address whose key has made a signature, for an explanation. It accepts more than `checkSignature`: also `v` 0 and 1,
 * and `s` in the upper half.
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

/**
 * What recovers signers from signatures: libsecp256k1 of the package `secp256k1`, or JavaScript, which takes thirty times as
 * long.
 */
type RecoveryLibrary = 'package' | 'javascript'

/** Recovers a signer's uncompressed public key, 65 bytes; undefined when the signature has no signer. */
type RecoverKey = (digest: Uint8Array, rs: Uint8Array, recoveryId: number) => Uint8Array | undefined

/**
 * Chooses what recovers signers: the package where it can be loaded, elsewhere JavaScript.
 * @param loadPackage returns undefined when the package cannot be loaded
 */
export function loadRecovery(loadPackage: () => RecoverPublicKey | undefined = loadPackageRecovery): {
  readonly library: RecoveryLibrary
  readonly recover: RecoverKey
} {
  const fromPackage = loadPackage()
  return fromPackage === undefined
    ? { library: 'javascript', recover: orUndefined(recoverInJavaScript) }
    : { library: 'package', recover: orUndefined(fromPackage) }
}

function orUndefined(recover: RecoverPublicKey): RecoverKey {
  return (digest, rs, recoveryId) => {
    try {
      return recover(rs, recoveryId, digest, false)
    } catch {
      return undefined
    }
  }
}

function recoverInJavaScript(rs: Uint8Array, recoveryId: number, digest: Uint8Array): Uint8Array {
  const signature = noble.Signature.fromCompact(rs).addRecoveryBit(recoveryId)
  return signature.recoverPublicKey(digest).toRawBytes(false)
}
