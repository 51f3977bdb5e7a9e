import { secp256k1 } from '@noble/curves/secp256k1'
import { expect, test } from 'vitest'
import { loadNativeRecovery } from '../../src/internals/native-recovery.js'

test('loadNativeRecovery recovers public keys by libsecp256k1', () => {
  const privateKey = Buffer.alloc(32, 7)
  const digest = Buffer.alloc(32, 9)
  const signature = secp256k1.sign(digest, privateKey)
  const recover = loadNativeRecovery()
  const key = recover?.(digest, signature.toCompactRawBytes(), signature.recovery)
  expect(Buffer.from(key ?? [])).toEqual(Buffer.from(secp256k1.getPublicKey(privateKey, false)))
  expect(() => recover?.(digest, Buffer.alloc(64), 0)).toThrow()
})
