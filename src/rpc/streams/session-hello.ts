import type { SessionHello } from '../../../gen/aggregator/v1/session_pb.js'
import { assertSupported, type FieldViolation, invalidArgument } from '../../domain/errors.js'
import { MAX_SESSION_CHAINS } from '../../domain/field-rules.js'
import type { Hello } from '../../sessions/messages.js'
import { Fields } from '../services/fields.js'

/**
 * Reads a hello.
 * @param malformed fields that could not be read into the message
 * @throws ServiceError CHAIN_NOT_SUPPORTED or INVALID_ARGUMENT, with every bad field
 */
export type ReadHello = (message: SessionHello, malformed?: readonly FieldViolation[]) => Hello

/** Builds the reader of an instance's hellos. */
export function createReadHello(supportedChains: readonly number[]): ReadHello {
  return (message, malformed = []) => {
    const chainIds = message.chainIds.map(Number)
    for (const chainId of chainIds) assertSupported(chainId, supportedChains)
    const fields = new Fields(malformed)
    if (
      chainIds.length < 1 ||
      chainIds.length > MAX_SESSION_CHAINS ||
      new Set(chainIds).size < chainIds.length
    )
      fields.addViolation('chainIds', `must be 1 to ${MAX_SESSION_CHAINS} chain ids, each once`)
    const audience = fields.origin('audience', message.audience)
    const hello: Hello = {
      address: fields.address('address', message.address),
      name: fields.displayName('name', message.name),
      audience,
      chainIds,
      signature: fields.signature('signature', message.signature),
      events: message.events && { after: message.events.after || undefined },
    }
    if (fields.violations.length > 0) throw invalidArgument(fields.violations)
    return hello
  }
}
