import { secp256k1 as noble } from '@noble/curves/secp256k1'
import { loadPackageRecovery, type RecoverPublicKey } from '../internals/package-recovery.js'

/** What recovers signers from signatures: libsecp256k1 of the package `secp256k1`, or JavaScript, which takes thirty times as long. */
export type RecoveryLibrary = 'package' | 'javascript'

/** Recovers a signer's uncompressed public key, 65 bytes; undefined when the signature has no signer. */
export type RecoverKey = (...args: Parameters<RecoverPublicKey>) => Uint8Array | undefined

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
  return (...args) => {
    try {
      return recover(...args)
    } catch {
      return undefined
    }
  }
}

function recoverInJavaScript(digest: Uint8Array, rs: Uint8Array, recoveryId: number): Uint8Array {
  const signature = noble.Signature.fromCompact(rs).addRecoveryBit(recoveryId)
  return signature.recoverPublicKey(digest).toRawBytes(false)
}
