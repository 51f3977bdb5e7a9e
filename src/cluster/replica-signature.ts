import { createHmac, timingSafeEqual } from 'node:crypto'

/** What a signature between replicas covers (docs/decisions.md, D18). */
interface SignedText {
  /** The UUID of the replica that the text is for: no other one accepts it. */
  readonly replicaId: string
  /** Unix time in milliseconds. */
  readonly time: number
  readonly text: string | Uint8Array
}

/** The path of all requests between replicas. */
export const REPLICA_PATH = '/replica'

/** The headers of a request between replicas, in the form of Node. The signature covers the body. */
export const REPLICA_HEADERS = { time: 'x-replica-time', signature: 'x-replica-signature' } as const

/** Signs a text with the key that all replicas of an instance share. @returns HMAC-SHA-256 in hexadecimal */
export function signReplicaText(key: Uint8Array, { replicaId, time, text }: SignedText): string {
  return createHmac('sha256', key).update(`${replicaId}\n${time}\n`).update(text).digest('hex')
}

/** Why a request of another replica is rejected. */
type ReplicaRejection = 'SIGNATURE_INVALID' | 'TIMESTAMP_OUT_OF_RANGE'

/** Largest difference of the clocks of two replicas, either way. */
const TOLERANCE_MS = 10_000

/** Checks a signed text, and its time in Unix milliseconds. @returns undefined for an accepted text */
export type ReplicaVerifier = (
  time: string,
  signature: string,
  text: string | Uint8Array,
) => ReplicaRejection | undefined

/**
 * Builds the check of texts from other replicas.
 * @param replicaId the UUID of this replica
 * @param now unix time in milliseconds
 */
export function createReplicaVerifier(
  replicaId: string,
  key: Uint8Array,
  now: () => number,
): ReplicaVerifier {
  return (time, signature, text) => {
    const expected = signReplicaText(key, { replicaId, time: Number(time), text })
    if (!isEqual(signature, expected)) return 'SIGNATURE_INVALID'
    if (Math.abs(Number(time) - now()) > TOLERANCE_MS) return 'TIMESTAMP_OUT_OF_RANGE'
    return undefined
  }
}

/** In a time that does not depend on where the texts differ. */
function isEqual(signature: string, expected: string): boolean {
  const [given, wanted] = [Buffer.from(signature), Buffer.from(expected)]
  return given.length === wanted.length && timingSafeEqual(given, wanted)
}
