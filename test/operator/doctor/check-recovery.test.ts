import { expect, it } from 'vitest'
import { checkRecovery } from '../../../src/operator/doctor/check-recovery.js'

it('doctor names the recovery of signatures by the package', () => {
  const checkResult = 'recovered by the libsecp256k1 of the package secp256k1'
  expect(checkRecovery('package')).toEqual([{ status: 'ok', check: 'signatures', checkResult }])
})

it('doctor warns of the recovery of signatures in JavaScript, and says what to install', () => {
  const [result] = checkRecovery('javascript')
  expect(result).toMatchObject({ status: 'warn', check: 'signatures' })
  expect(result?.remedy).toContain('npm rebuild secp256k1')
})
