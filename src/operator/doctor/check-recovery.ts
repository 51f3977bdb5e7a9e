import { type RecoveryLibrary, recoveryLibrary } from '../../../packages/protocol/src/signing/signatures.js'
import { type CheckResult, createReport } from './check-result.js'

const REMEDY = 'Install a compiler, and then run `npm rebuild secp256k1`.'

/** Reports which library recovers the signers of quotes. */
export function checkRecovery(library: RecoveryLibrary = recoveryLibrary): readonly CheckResult[] {
  const { judge, list } = createReport('signatures')
  const isNative = library === 'package'
  const found = isNative
    ? 'recovered by the libsecp256k1 of the package secp256k1'
    : 'recovered in JavaScript, which takes thirty times as long: no libsecp256k1 can be loaded'
  judge('', isNative, found, REMEDY)
  return list
}
