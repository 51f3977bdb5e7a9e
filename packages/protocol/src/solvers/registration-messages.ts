import { type Address, type Hex, lowerCase } from '../values/hex.js'

/** What a solver signs to register; `timestamp` is Unix time in milliseconds. */
interface RegistrationText {
  /** In any letter case. */
  readonly address: Address
  readonly endpointUrl: string
  readonly timestamp: number
}

/**
 * The text that a solver signs to register (docs/protocol.md, "Registration messages").
 * @param protocolName the first words of the text (docs/decisions.md, D1)
 */
export function registrationMessage(protocolName: string, text: RegistrationText): string {
  return [
    `${protocolName} Solver Registration`,
    `Address: ${lowerCase(text.address)}`,
    `Endpoint: ${text.endpointUrl}`,
    `Timestamp: ${text.timestamp}`,
  ].join('\n')
}

/** The text that a solver signs to unregister (docs/decisions.md, D5). */
export function unregistrationMessage(
  protocolName: string,
  text: Pick<RegistrationText, 'address' | 'timestamp'>,
): string {
  return [
    `${protocolName} Solver Unregistration`,
    `Address: ${lowerCase(text.address)}`,
    `Timestamp: ${text.timestamp}`,
  ].join('\n')
}

/** What a solver signs to open a session. */
interface SessionText {
  /** In any letter case. */
  readonly address: Address
  readonly name: string
  /** The origin that the solver was configured to dial. */
  readonly audience: string
  /** In any order. */
  readonly chainIds: readonly number[]
  /** The challenge's nonce: 32 bytes. */
  readonly nonce: Hex
}

/**
 * The text that a solver signs to open a session (docs/decisions.md, D18). The audience keeps a hostile instance from
 * passing the signature on to another one, and the nonce keeps anyone from using it again.
 */
export function sessionMessage(protocolName: string, text: SessionText): string {
  return [
    `${protocolName} Solver Session`,
    `Address: ${lowerCase(text.address)}`,
    `Name: ${text.name}`,
    `Audience: ${text.audience}`,
    `Chains: ${[...text.chainIds].sort((one, other) => one - other).join(',')}`,
    `Challenge: ${text.nonce}`,
  ].join('\n')
}

/**
 * The text that a solver signs to list its own results (docs/decisions.md, D20).
 * @param text `timestamp` is Unix time in milliseconds; `audience` is the origin that the solver dials
 */
export function ownResultsMessage(
  protocolName: string,
  text: Pick<RegistrationText, 'address' | 'timestamp'> & Pick<SessionText, 'audience'>,
): string {
  return [
    `${protocolName} Solver Results`,
    `Address: ${lowerCase(text.address)}`,
    `Audience: ${text.audience}`,
    `Timestamp: ${text.timestamp}`,
  ].join('\n')
}
