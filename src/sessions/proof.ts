import { randomBytes } from 'node:crypto'
import { type FieldViolation, ServiceError } from '../../packages/protocol/src/errors.js'
import { sessionMessage } from '../../packages/protocol/src/solvers/registration-messages.js'
import type { Hex } from '../../packages/protocol/src/values/hex.js'
import { assertSignature } from '../solvers/registry/signed-request.js'
import type { Hello } from './messages.js'

/** What a solver signs over. It belongs to one connection, which checks one hello. */
interface Challenge {
  readonly nonce: Hex
  /** Unix time in milliseconds. */
  readonly sentAt: number
}

export interface ProofRules extends AudienceRules {
  readonly protocolName: string
}

const NONCE_BYTES = 32
/** Longer than a hello may take. It counts for a process that was paused, and continues (docs/decisions.md, D18). */
const CHALLENGE_LIFETIME_MS = 30_000

export function createChallenge(now: number): Challenge {
  return { nonce: `0x${randomBytes(NONCE_BYTES).toString('hex')}`, sentAt: now }
}

/**
 * Checks that a hello was made for this connection by its solver: challenge, audience, signature, in this order.
 * @param origins the origins by which the request reached the instance
 * @throws ServiceError CHALLENGE_EXPIRED, AUDIENCE_REJECTED or SIGNATURE_INVALID
 */
export function assertProof(
  hello: Hello,
  { nonce, sentAt }: Challenge,
  rules: ProofRules,
  { origins, now }: { readonly origins: readonly string[]; readonly now: number },
): void {
  if (now - sentAt > CHALLENGE_LIFETIME_MS) throw challengeExpired()
  assertAudience(hello.audience, rules, origins, [
    { field: 'audience', message: 'must be an origin of this instance' },
  ])
  const text = sessionMessage(rules.protocolName, { ...hello, nonce })
  assertSignature(hello, text, [
    {
      field: 'signature',
      message: `must be an EIP-191 signature by ${hello.address} over ${JSON.stringify(text)}`,
    },
  ])
}

/** The error of a hello that comes too late. */
export function challengeExpired(): ServiceError {
  return new ServiceError('CHALLENGE_EXPIRED', 'The hello did not come within 5 seconds. Connect again.')
}

/** The origins of an instance. */
interface AudienceRules {
  /** In production no others count. */
  readonly publicUrls: readonly string[]
  readonly production: boolean
}

/**
 * Checks that what a solver signed was meant for this instance.
 * @param origins the origins by which the request reached the instance
 * @param violations what the error says of the field
 * @throws ServiceError AUDIENCE_REJECTED
 */
export function assertAudience(
  audience: string,
  { publicUrls, production }: AudienceRules,
  origins: readonly string[],
  violations: readonly FieldViolation[] = [],
): void {
  const accepted = production ? publicUrls : [...publicUrls, ...origins]
  if (accepted.includes(audience)) return
  const message =
    'The audience must be an origin of this instance (PUBLIC_URLS). It is the one that the solver dials.'
  throw new ServiceError('AUDIENCE_REJECTED', message, { violations })
}
