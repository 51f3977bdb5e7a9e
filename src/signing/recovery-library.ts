import { secp256k1 as noble } from '@noble/curves/secp256k1'
import { loadPackageRecovery, type RecoverPublicKey } from '../internals/package-recovery.js'

/** What recovers signers from signatures: libsecp256k1 of the package `secp256k1`, or JavaScript, which takes thirty times as long. */
export const RECOVERY_LIBRARIES = ['package', 'javascript'] as const
export type RecoveryLibrary = (typeof RECOVERY_LIBRARIES)[number]

/** Recovers a signer's uncompressed public key, 65 bytes; undefined when the signature has no signer. */
export type RecoverKey = (...args: Parameters<RecoverPublicKey>) => Uint8Array | undefined

const LOADERS: Readonly<Record<RecoveryLibrary, () => RecoverPublicKey | undefined>> = {
  package: loadPackageRecovery,
  javascript: () => recoverInJavaScript,
}

/** Signatures with known signers; the last one has none, as no point of the curve has its r. */
const KNOWN = [
  {
    digest: 'ed08ce0e16e3eba9973a79d276f5161e29c825caee6fafc5f18ee90a94c1f64f',
    rs: 'ede2eb350a4304533dc81a0fb2fa7a9710c18fc0f13076952981000f9764c67569f71f61924296b2823e041066d15ee5c34c4d458db9b06992023b05e5f2088e',
    recoveryId: 0,
    publicKey:
      '040f4126c6ac1ec82196faa8ff072bbe3f48f66a922b264cda9cfbc4e5a8eeb327ee8f08396ea8f28ef87723267c5e83d4f607ba4ec5fdb9bad6354d5463a7e210',
  },
  {
    digest: '456e9aea5e197a1f1af7a3e85a3212fa4049a3ba34c2289b4c860fc0b0c64ef3',
    rs: '9242685bf161793cc25603c231bc2f568eb630ea16aa137d2664ac80388256084f8ae3bd7535248d0bd448298cc2e2071e56992d0774dc340c368ae950852ada',
    recoveryId: 1,
    publicKey:
      '04f57c1d4c961024e998eaec4b6bebec90e788ef5ade22e636ce76111b60db107d4c3404b9908a2f357c84ccb48cf412be41d09574a9291c9c7eb5173ccf2a339f',
  },
  {
    digest: '11'.repeat(32),
    rs: `${'00'.repeat(31)}05${'00'.repeat(31)}01`,
    recoveryId: 0,
    publicKey: undefined,
  },
]

/**
 * Loads the fastest library that recovers the signers of known signatures.
 * @param names the libraries to try, in order
 */
export function loadRecovery(names: readonly RecoveryLibrary[] = RECOVERY_LIBRARIES): {
  readonly library: RecoveryLibrary
  /** It returns undefined when r and s belong to no point of the curve. */
  readonly recover: RecoverKey
} {
  for (const library of names) {
    const loaded = LOADERS[library]()
    const recover = loaded && orUndefined(loaded)
    if (recover !== undefined && KNOWN.every((known) => recoversKnown(recover, known)))
      return { library, recover }
  }
  throw new Error('no library recovers the signers of known signatures')
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

function recoversKnown(recover: RecoverKey, known: (typeof KNOWN)[number]): boolean {
  const { digest, rs, recoveryId, publicKey } = known
  const found = recover(Buffer.from(digest, 'hex'), Buffer.from(rs, 'hex'), recoveryId)
  return publicKey === (found && Buffer.from(found).toString('hex'))
}

function recoverInJavaScript(digest: Uint8Array, rs: Uint8Array, recoveryId: number): Uint8Array {
  const signature = noble.Signature.fromCompact(rs).addRecoveryBit(recoveryId)
  return signature.recoverPublicKey(digest).toRawBytes(false)
}
