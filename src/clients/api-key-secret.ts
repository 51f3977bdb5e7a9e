import { hash, randomBytes, timingSafeEqual } from 'node:crypto'
import type { SentKey } from './api-key.js'

/** Bytes of a secret, and of an id. */
const SECRET_BYTES = 32
const ID_BYTES = 5

/** Makes a key with a new secret. @param id that of a key whose secret is replaced; a new one when undefined */
export function createApiKey(id = randomBytes(ID_BYTES).toString('hex')): SentKey {
  return { id, secret: randomBytes(SECRET_BYTES).toString('base64url') }
}

/** SHA-256 of a secret in hex, which is stored in its place. The secret is random, so the digest needs no salt. */
export function digestOf(secret: string): string {
  return hash('sha256', secret, 'hex')
}

/** Whether a digest is that of the secret. The time that it takes says nothing about the digest. */
export function isSecretOf(digest: Uint8Array, secret: string): boolean {
  return timingSafeEqual(digest, hash('sha256', secret, 'buffer'))
}
