import { randomBytes } from 'node:crypto'

/** 128 bits in base64url have 22 characters. */
const SECRET_BYTES = 16
const SECRET = /^[\w-]{22,}$/

/**
 * Instances do not publish endpoints. Whoever knows one can ask it for quotes, or register it as its own (docs/decisions.md, D23).
 * @returns the endpoint with a new random part of its path, unless its path has a part that strangers cannot guess
 */
export function withSecretPath(endpointUrl: string): string {
  if (new URL(endpointUrl).pathname.split('/').some((part) => SECRET.test(part))) return endpointUrl
  return `${endpointUrl.replace(/\/$/, '')}/${randomBytes(SECRET_BYTES).toString('base64url')}`
}
