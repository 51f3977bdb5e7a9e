import type { Address } from '../domain/hex.js'
import { keccak256 } from './keccak.js'

/** The fields of a registration; `timestamp` is Unix time in milliseconds. */
export interface RegistrationText {
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
    `Address: ${text.address.toLowerCase()}`,
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
    `Address: ${text.address.toLowerCase()}`,
    `Timestamp: ${text.timestamp}`,
  ].join('\n')
}

/** The digest that a wallet signs for a personal message (EIP-191, version 0x45): 32 bytes. */
export function personalMessageDigest(message: string): Uint8Array {
  const text = Buffer.from(message)
  return keccak256(Buffer.concat([Buffer.from(`\x19Ethereum Signed Message:\n${text.length}`), text]))
}
