import { type FieldViolation, ServiceError } from '../../../packages/protocol/src/errors.js'
import { checkSignature, personalMessageDigest } from '../../../packages/protocol/src/signing/signatures.js'
import {
  type SolverKey,
  TIMESTAMP_TOLERANCE_MS,
  timestampReused,
} from '../../../packages/protocol/src/solvers/solver.js'
import type { Hex } from '../../../packages/protocol/src/values/hex.js'
import type { RegistryContext } from './context.js'

/** A signed request of a solver; `timestamp` is in Unix milliseconds. */
export interface SignedRequest extends SolverKey {
  readonly timestamp: number
  readonly signature: Hex
}

/**
 * Checks the timestamp's window, the signature over `message`, and that the timestamp is newer than the last one. The last
 * timestamp is checked again by the store's transaction, which decides; here it refuses a replay before costly checks.
 * @throws ServiceError TIMESTAMP_OUT_OF_RANGE, SIGNATURE_INVALID or TIMESTAMP_REUSED
 */
export async function assertSigned(
  request: SignedRequest,
  message: string,
  { instance, clock }: RegistryContext,
): Promise<void> {
  assertTimestamp(request.timestamp, clock.now())
  assertSignature(request, message)
  const last = await instance.stores.solvers.lastTimestamp(request)
  if (last !== undefined && request.timestamp <= last) throw timestampReused(last)
}

/**
 * @param now Unix time in milliseconds
 * @throws ServiceError TIMESTAMP_OUT_OF_RANGE
 */
export function assertTimestamp(timestamp: number, now: number): void {
  if (Math.abs(timestamp - now) <= TIMESTAMP_TOLERANCE_MS) return
  throw new ServiceError('TIMESTAMP_OUT_OF_RANGE', 'The timestamp must be within 5 minutes of the clock.')
}

/**
 * @param violations what the error says of the fields
 * @throws ServiceError SIGNATURE_INVALID when the signature over `message` is not by the address
 */
export function assertSignature(
  { address, signature }: Pick<SignedRequest, 'address' | 'signature'>,
  message: string,
  violations: readonly FieldViolation[] = [],
): void {
  const problem = checkSignature(
    personalMessageDigest(message),
    Buffer.from(signature.slice(2), 'hex'),
    address,
  )
  if (problem === undefined) return
  throw new ServiceError(
    'SIGNATURE_INVALID',
    'The signature is not by this address over the expected message.',
    { violations },
  )
}
