import { createRequire } from 'node:module'

/**
 * Recovers the signer's uncompressed public key (65 bytes) from r and s (64 bytes) and a digest (32 bytes); throws when there is
 * none.
 */
export type RecoverPublicKey = (
  rs: Uint8Array,
  recoveryId: number,
  digest: Uint8Array,
  isCompressed: false,
) => Uint8Array

/**
 * Loads the libsecp256k1 of 2019 by the internal file of the package `secp256k1`. The package's main module falls back to slow
 * JavaScript silently; its binding throws instead. Checked with secp256k1 5.0.2.
 * @returns undefined when it cannot be loaded
 */
export function loadPackageRecovery(): RecoverPublicKey | undefined {
  try {
    const binding: typeof import('secp256k1') = createRequire(import.meta.url)('secp256k1/bindings.js')
    return binding.ecdsaRecover
  } catch {
    return undefined
  }
}
