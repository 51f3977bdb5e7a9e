import { type RecoveryLibrary, recoveryLibrary } from '../../signing/signatures.js'
import { type CheckResult, collectResults } from './check-result.js'

const REMEDY = 'Install a compiler, and then run `npm rebuild secp256k1`.'

/** Reports which library recovers the signers of quotes. */
export function checkRecovery(library: RecoveryLibrary = recoveryLibrary): readonly CheckResult[] {
  const { ok, warn, list } = collectResults('signatures')
  if (library === 'package') ok('', 'recovered by the libsecp256k1 of the package secp256k1')
  else
    warn(
      '',
      'recovered in JavaScript, which takes thirty times as long: no libsecp256k1 can be loaded',
      REMEDY,
    )
  return list
}
