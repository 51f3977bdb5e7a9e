import { expect, it } from 'vitest'
import { checkRecovery } from '../../src/cli/doctor/check-recovery.js'

it.each([
  ['system', "recovered by the operating system's libsecp256k1"],
  ['package', 'recovered by the libsecp256k1 of the package secp256k1'],
] as const)('doctor names the recovery of signatures by %s', (library, checkResult) => {
  expect(checkRecovery(library)).toEqual([{ status: 'ok', check: 'signatures', checkResult }])
})

it('doctor warns of the recovery of signatures in JavaScript, and says what to install', () => {
  const [result] = checkRecovery('javascript')
  expect(result).toMatchObject({ status: 'warn', check: 'signatures' })
  expect(result?.remedy).toContain('libsecp256k1-1')
  expect(result?.remedy).toContain('npm rebuild secp256k1')
})
