import { randomBytes } from 'node:crypto'

/** 128 bits in base64url have 22 characters. */
const SECRET_BYTES = 16
const SECRET = /^[\w-]{22,}$/

/**
 * Whether the path of an endpoint has a part that strangers cannot guess. Instances do not publish endpoints. Whoever knows one can
 * ask it for quotes, or register it as its own (docs/decisions.md, D23).
 */
export function hasSecretPath(endpointUrl: string): boolean {
  return new URL(endpointUrl).pathname.split('/').some((part) => SECRET.test(part))
}

/** The endpoint with a new random path. */
export function withSecretPath(endpointUrl: string): string {
  return `${endpointUrl.replace(/\/$/, '')}/${randomBytes(SECRET_BYTES).toString('base64url')}`
}
