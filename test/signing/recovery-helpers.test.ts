import { secp256k1 } from '@noble/curves/secp256k1'
import { afterAll, describe, expect, it, onTestFinished, vi } from 'vitest'
import { recoverKey } from '../../src/signing/recover.js'
import { createRecoveryHelpers } from '../../src/signing/recovery-helpers.js'
import type { SignedDigest } from '../../src/signing/recovery-library.js'
import { RecoverySlots } from '../../src/signing/recovery-slots.js'
import { eventually } from '../support/eventually.js'
import { createRandom } from '../support/random.js'

const random = createRandom(77)
/** No point of the curve has its r. */
const WITHOUT_SIGNER = Buffer.from(`${'00'.repeat(31)}05${'00'.repeat(31)}01`, 'hex')

function randomSignature(): SignedDigest {
  const digest = random.bytes(32)
  if (random.integer(0, 9) === 0) return { digest, rs: WITHOUT_SIGNER, recoveryId: 0 }
  const signature = secp256k1.sign(digest, random.bytes(32))
  // A part of a larger buffer, as signatures of replies are.
  const rs = Buffer.concat([random.bytes(3), signature.toCompactRawBytes(), random.bytes(1)]).subarray(3, 67)
  return { digest, rs, recoveryId: signature.recovery }
}

const neverFails = (error: unknown) => expect.unreachable(String(error))
const signatures = Array.from({ length: 200 }, randomSignature)
const expected = signatures.map(recoverKey)

describe.each([0, 1, 3])('%i helping threads', (threads) => {
  const helpers = createRecoveryHelpers(neverFails, threads)
  afterAll(helpers.close)

  it('recover the same keys, in the same order, as one thread does', () => {
    expect(expected).toContain(undefined)
    for (const size of [0, 1, 3, 4, 10, 63, 64, 65, 200])
      expect(helpers.recoverAll(signatures.slice(0, size))).toEqual(expected.slice(0, size))
  })

  it('never give a signature the key of another one, in many groups of random sizes', async () => {
    for (let round = 0; round < 60; round++) {
      const start = random.integer(0, 150)
      const end = start + random.integer(1, 50)
      expect(helpers.recoverAll(signatures.slice(start, end))).toEqual(expected.slice(start, end))
      await new Promise(setImmediate)
    }
  })
})

it('has its threads recover a part of the keys', async () => {
  const collect = vi.spyOn(RecoverySlots.prototype, 'collect')
  onTestFinished(() => collect.mockRestore())
  const helpers = createRecoveryHelpers(neverFails, 1)
  onTestFinished(helpers.close)
  const recoverSome = async () => {
    expect(helpers.recoverAll(signatures)).toEqual(expected)
    return collect.mock.results.some(({ value }) => value?.key !== undefined)
  }
  await eventually(recoverSome, Boolean)
})

it('recovers all keys after its threads have ended', async () => {
  const helpers = createRecoveryHelpers(neverFails, 2)
  helpers.recoverAll(signatures)
  await helpers.close()
  expect(helpers.recoverAll(signatures)).toEqual(expected)
})

it('recovers all keys where the system allows no thread, and reports it once', async () => {
  vi.doMock('../../src/internals/start-thread.js', () => ({
    startThread() {
      throw new Error('ERR_WORKER_INIT_FAILED')
    },
  }))
  vi.resetModules()
  const { createRecoveryHelpers } = await import('../../src/signing/recovery-helpers.js')
  const onFailed = vi.fn()
  const helpers = createRecoveryHelpers(onFailed, 2)
  for (let round = 0; round < 2; round++) expect(helpers.recoverAll(signatures)).toEqual(expected)
  expect(onFailed).toHaveBeenCalledTimes(1)
  await helpers.close()
})
