import { secp256k1 } from '@noble/curves/secp256k1'
import { describe, expect, it } from 'vitest'
import { loadRecovery } from '../../src/signing/recovery-library.js'
import { createRandom } from '../support/random.js'

const ORDER = secp256k1.CURVE.n

const bytesOf = (value: bigint) => Buffer.from(value.toString(16).padStart(64, '0'), 'hex')

const withPackage = loadRecovery()
const withoutPackage = loadRecovery(() => undefined)

it('is the package where it can be loaded, and JavaScript elsewhere', () => {
  expect([withPackage.library, withoutPackage.library]).toEqual(['package', 'javascript'])
})

describe.each([withPackage, withoutPackage])('the library $library', ({ recover }) => {
  it('recovers the keys of random signers with both ids', () => {
    const random = createRandom(41)
    const ids = new Set<number>()
    for (let round = 0; round < 100; round++) {
      const [privateKey, digest] = [random.bytes(32), random.bytes(32)]
      const signature = secp256k1.sign(digest, privateKey)
      // A part of a larger buffer, as signatures of replies are.
      const rs = Buffer.concat([random.bytes(3), signature.toCompactRawBytes(), random.bytes(5)]).subarray(
        3,
        67,
      )
      const key = recover(digest, rs, signature.recovery)
      expect(Buffer.from(key ?? [])).toEqual(Buffer.from(secp256k1.getPublicKey(privateKey, false)))
      ids.add(signature.recovery)
    }
    expect(ids).toEqual(new Set([0, 1]))
  })

  it('returns a key that later calls do not change', () => {
    const digest = Buffer.alloc(32, 9)
    const keys = [1, 2].map((byte) => {
      const signature = secp256k1.sign(digest, Buffer.alloc(32, byte))
      return recover(digest, signature.toCompactRawBytes(), signature.recovery)
    })
    expect(Buffer.from(keys[0] ?? [])).toEqual(
      Buffer.from(secp256k1.getPublicKey(Buffer.alloc(32, 1), false)),
    )
  })

  it.each([
    ['r is 0', 0n, 1n],
    ['s is 0', 1n, 0n],
    ['r is the order of the curve', ORDER, 1n],
    ['s is the order of the curve', 1n, ORDER],
    ['r is the largest number', 2n ** 256n - 1n, 1n],
    ['no point has the r', 5n, 1n],
  ])('has no signer when %s', (_name, r, s) => {
    for (const id of [0, 1])
      expect(recover(Buffer.alloc(32, 7), Buffer.concat([bytesOf(r), bytesOf(s)]), id)).toBeUndefined()
  })
})
