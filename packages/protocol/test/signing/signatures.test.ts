import { secp256k1 } from '@noble/curves/secp256k1'
import { bytesToHex, hashMessage, hexToBytes, numberToBytes } from 'viem'
import { privateKeyToAccount, sign } from 'viem/accounts'
import { afterAll, describe, expect, it, test, vi } from 'vitest'
import { createRandom, type Random } from '../../../../test/support/random.js'
import * as native from '../../src/signing/signatures.js'
import { loadRecovery, personalMessageDigest } from '../../src/signing/signatures.js'
import type { Address } from '../../src/values/hex.js'

const ORDER = secp256k1.CURVE.n
const FIELD = secp256k1.CURVE.Fp.ORDER
const HALF_ORDER = ORDER / 2n

const inJavaScript = await importWithoutBinding()
afterAll(() => {
  vi.doUnmock('node:module')
  // Later test files of this process must not get these modules.
  vi.resetModules()
})

/** The module on a machine where libsecp256k1 cannot be loaded. */
async function importWithoutBinding(): Promise<typeof native> {
  vi.resetModules()
  vi.doMock('node:module', () => ({
    createRequire: () => (id: string) => {
      throw new Error(`cannot find module ${id}`)
    },
  }))
  return import('../../src/signing/signatures.js')
}

function signatureBytes(r: bigint, s: bigint, v: number): Uint8Array {
  return Buffer.concat([numberToBytes(r, { size: 32 }), numberToBytes(s, { size: 32 }), Buffer.of(v)])
}

/** A signed digest. */
async function randomSigned(random: Random) {
  const privateKey = random.hex(32)
  const digest = random.bytes(32)
  const signature = hexToBytes(await sign({ hash: bytesToHex(digest), privateKey, to: 'hex' }))
  const signer = privateKeyToAccount(privateKey).address.toLowerCase() as Address
  const r = BigInt(bytesToHex(signature.subarray(0, 32)))
  const s = BigInt(bytesToHex(signature.subarray(32, 64)))
  return { digest, signature, signer, r, s, v: signature[64] ?? 0 }
}

/** Recovery gives `r^-1 (s R - e G)`: with `s = e / k` for `R = k G` that is the point at infinity. */
function signatureOfInfinity(digest: Uint8Array, k: bigint): Uint8Array {
  const point = secp256k1.ProjectivePoint.BASE.multiply(k).toAffine()
  const e = BigInt(bytesToHex(digest)) % ORDER
  const s = (e * inverse(k)) % ORDER
  const isHigh = s > HALF_ORDER
  const isOdd = point.y % 2n === 1n
  return signatureBytes(point.x, isHigh ? ORDER - s : s, isOdd !== isHigh ? 28 : 27)
}

function inverse(value: bigint): bigint {
  let [power, result, exponent] = [value, 1n, ORDER - 2n]
  for (; exponent > 0n; exponent >>= 1n) {
    if (exponent & 1n) result = (result * power) % ORDER
    power = (power * power) % ORDER
  }
  return result
}

test('signatures are recovered by libsecp256k1', () => {
  expect(native.recoveryLibrary).not.toBe('javascript')
})

test('signatures are recovered in JavaScript when libsecp256k1 cannot be loaded', () => {
  expect(inJavaScript.recoveryLibrary).toBe('javascript')
})

describe.each([
  ['by libsecp256k1', native],
  ['in JavaScript', inJavaScript],
])('recovery %s', (_how, { checkSignature }) => {
  test('accepts the signatures of many signers, with v 27 and with v 28', async () => {
    const random = createRandom(31)
    const seen = new Set<number>()
    for (let round = 0; round < 40; round++) {
      const { digest, signature, signer, v } = await randomSigned(random)
      expect(checkSignature(digest, signature, signer)).toBeUndefined()
      seen.add(v)
    }
    expect(seen).toEqual(new Set([27, 28]))
  })

  test.each([0, 64, 66, 130])('refuses %i bytes', async (length) => {
    const { digest, signature, signer } = await randomSigned(createRandom(32))
    const bytes = Buffer.alloc(length)
    bytes.set(signature.subarray(0, length))
    expect(checkSignature(digest, bytes, signer)).toBe('signature_length')
  })

  test.each([0, 1, 26, 29, 37, 255])('refuses v %i', async (v) => {
    const { digest, r, s, signer } = await randomSigned(createRandom(33))
    expect(checkSignature(digest, signatureBytes(r, s, v), signer)).toBe('signature_v')
  })

  test('refuses a signature with s in the upper half, which recovers to the same signer', async () => {
    const { digest, r, s, v, signer } = await randomSigned(createRandom(34))
    const twin = signatureBytes(r, ORDER - s, v === 27 ? 28 : 27)
    expect(checkSignature(digest, twin, signer)).toBe('signature_high_s')
  })

  test('accepts s up to n/2 and no more', async () => {
    const { digest, r, v, signer } = await randomSigned(createRandom(35))
    expect(checkSignature(digest, signatureBytes(r, HALF_ORDER, v), signer)).toBe('signature_mismatch')
    expect(checkSignature(digest, signatureBytes(r, HALF_ORDER + 1n, v), signer)).toBe('signature_high_s')
  })

  test('refuses another signer, another digest, another v and a changed r or s', async () => {
    const random = createRandom(36)
    const { digest, signature, signer, r, s, v } = await randomSigned(random)
    const stranger = (await randomSigned(random)).signer
    expect(checkSignature(digest, signature, stranger)).toBe('signature_mismatch')
    expect(checkSignature(random.bytes(32), signature, signer)).toBe('signature_mismatch')
    const forged = [signatureBytes(r, s, 55 - v), signatureBytes(r + 1n, s, v), signatureBytes(r, s - 1n, v)]
    for (const bytes of forged) expect(checkSignature(digest, bytes, signer)).toBe('signature_mismatch')
  })

  test.each<[string, bigint, bigint]>([
    ['r and s of 0', 0n, 0n],
    ['r of 0', 0n, 1n],
    ['s of 0', 1n, 0n],
    ['an r that is the x of no point', 5n, 1n],
    ['r of n', ORDER, 1n],
    ['r of n + 1', ORDER + 1n, 1n],
    ['r of p', FIELD, 1n],
    ['r of 2^256-1', 2n ** 256n - 1n, 1n],
  ])('refuses %s without throwing', (_what, r, s) => {
    const digest = createRandom(37).bytes(32)
    for (const v of [27, 28]) {
      const signature = signatureBytes(r, s, v)
      expect(checkSignature(digest, signature, '0x0000000000000000000000000000000000000000')).toBe(
        'signature_mismatch',
      )
    }
  })

  test('refuses an s of n or more like one in the upper half', () => {
    const digest = createRandom(38).bytes(32)
    for (const s of [ORDER, ORDER + 1n, 2n ** 256n - 1n]) {
      expect(checkSignature(digest, signatureBytes(1n, s, 27), '0x')).toBe('signature_high_s')
    }
  })

  test('refuses a signature that recovers to the point at infinity', () => {
    const random = createRandom(39)
    for (let k = 2n; k < 12n; k++) {
      const digest = random.bytes(32)
      expect(checkSignature(digest, signatureOfInfinity(digest, k), '0x')).toBe('signature_mismatch')
    }
  })

  test('leaves the given bytes unchanged', async () => {
    const { digest, signature, signer } = await randomSigned(createRandom(40))
    const before = [bytesToHex(digest), bytesToHex(signature)]
    checkSignature(digest, signature, signer)
    expect([bytesToHex(digest), bytesToHex(signature)]).toEqual(before)
  })
})

test('native and JavaScript recovery agree on valid signatures and on any bytes', async () => {
  const random = createRandom(41)
  for (let round = 0; round < 60; round++) {
    const { digest, signature, signer } = await randomSigned(random)
    const changed = Buffer.from(signature)
    if (random.integer(0, 2) > 0) changed[random.integer(0, 64)] = random.integer(0, 255)
    expect(inJavaScript.checkSignature(digest, changed, signer)).toBe(
      native.checkSignature(digest, changed, signer),
    )
  }
})

describe('the digest of a personal message', () => {
  test.each([
    ['nothing', ''],
    ['one line', 'hello'],
    ['several lines', 'a\nb\r\nc\n'],
    ['text whose characters take several bytes', 'Größe 漢字 🙂'],
    ['text of more than a hundred bytes', 'é'.repeat(80)],
    ['text that looks like bytes in hex', '0x1234'],
  ])('of %s is equal to that of viem', (_what, message) => {
    expect(bytesToHex(personalMessageDigest(message))).toBe(hashMessage(message))
  })

  test('of any text is equal to that of viem', () => {
    const random = createRandom(2)
    for (let round = 0; round < 200; round++) {
      const message = random.text(120)
      expect(bytesToHex(personalMessageDigest(message)), message).toBe(hashMessage(message))
    }
  })
})

const withPackage = loadRecovery()
const withoutPackage = loadRecovery(() => undefined)

it('is the package where it can be loaded, and JavaScript elsewhere', () => {
  expect([withPackage.library, withoutPackage.library]).toEqual(['package', 'javascript'])
})
