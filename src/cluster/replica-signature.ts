import { createHmac, timingSafeEqual } from 'node:crypto'

/** What the signature of a request between replicas covers (docs/decisions.md, D18). */
export interface SignedText {
  /** The UUID of the replica that the request is for: no other one accepts it. */
  readonly replicaId: string
  /** Unix time in milliseconds. */
  readonly time: number
  readonly body: string | Uint8Array
}

/** The headers of a request between replicas, in the form of Node. */
export const REPLICA_HEADERS = { time: 'x-replica-time', signature: 'x-replica-signature' } as const

/** Signs a request with the key that all replicas of an instance share. @returns HMAC-SHA-256 in hexadecimal */
export function signReplicaRequest(key: Uint8Array, { replicaId, time, body }: SignedText): string {
  return createHmac('sha256', key).update(`${replicaId}\n${time}\n`).update(body).digest('hex')
}

/** Why a request between replicas is rejected. */
export type ReplicaRejection = 'SIGNATURE_INVALID' | 'TIMESTAMP_OUT_OF_RANGE' | 'REQUEST_REPEATED'

interface VerifierOptions {
  /** The UUID of this replica. */
  readonly replicaId: string
  readonly key: Uint8Array
  /** Unix time in milliseconds. */
  readonly now: () => number
}

/** Largest difference of the clocks of two replicas, either way. */
const TOLERANCE_MS = 10_000

/** Checks a request by its two headers and its body. @returns undefined for an accepted request */
export type ReplicaVerifier = (
  time: string | undefined,
  signature: string | undefined,
  body: Uint8Array,
) => ReplicaRejection | undefined

/** Builds the check of requests from other replicas. It accepts each request once. */
export function createReplicaVerifier({ replicaId, key, now }: VerifierOptions): ReplicaVerifier {
  /** The accepted signatures. Each is kept for as long as its time is in range: all of a set are removed at once. */
  let recent = new Set<string>()
  let older = new Set<string>()
  let rotatedAt = now()

  function isRepeated(signature: string): boolean {
    if (Math.abs(now() - rotatedAt) > 2 * TOLERANCE_MS) {
      older = recent
      recent = new Set()
      rotatedAt = now()
    }
    if (recent.has(signature) || older.has(signature)) return true
    recent.add(signature)
    return false
  }

  return (time, signature, body) => {
    const expected = signReplicaRequest(key, { replicaId, time: Number(time), body })
    if (!isEqual(signature, expected)) return 'SIGNATURE_INVALID'
    if (Math.abs(Number(time) - now()) > TOLERANCE_MS) return 'TIMESTAMP_OUT_OF_RANGE'
    return isRepeated(expected) ? 'REQUEST_REPEATED' : undefined
  }
}

/** In a time that does not depend on where the texts differ. */
function isEqual(signature: string | undefined, expected: string): boolean {
  const [given, wanted] = [Buffer.from(signature ?? ''), Buffer.from(expected)]
  return given.length === wanted.length && timingSafeEqual(given, wanted)
}
