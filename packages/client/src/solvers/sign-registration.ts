import type { Address, Hex } from 'viem'
import {
  registrationMessage,
  unregistrationMessage,
} from '../../../protocol/src/solvers/registration-messages.js'

/** A signer of personal messages (EIP-191): any viem account, or any other object with these members. */
export interface MessageSigner {
  readonly address: Address
  signMessage(parameters: { message: string }): Promise<Hex>
}

/** The terms of a registration. */
export interface RegistrationTerms {
  /** `PROTOCOL_NAME` of the instance; `Service` when left out. */
  readonly protocolName?: string
  readonly chainId: number
  /** The instance posts to `<endpointUrl>/quote`. */
  readonly endpointUrl: string
  /** Display name, 1 to 64 characters. */
  readonly name: string
  /** Unix time in milliseconds, newer than the last one accepted; now when left out. */
  readonly timestamp?: number
}

/** The terms of an unregistration. */
export type UnregistrationTerms = Pick<RegistrationTerms, 'protocolName' | 'chainId' | 'timestamp'>

/** The argument of `registerSolver`. */
export interface SignedRegistration {
  readonly chainId: number
  readonly address: Address
  readonly endpointUrl: string
  readonly name: string
  readonly timestamp: number
  readonly signature: Hex
}

/** The argument of `unregisterSolver`. */
export type SignedUnregistration = Omit<SignedRegistration, 'endpointUrl' | 'name'>

/** Signs a registration (docs/protocol.md, "Registration messages"). @throws the errors of the signer */
export async function signRegistration(
  signer: MessageSigner,
  terms: RegistrationTerms,
): Promise<SignedRegistration> {
  const { protocolName = 'Service', chainId, endpointUrl, name, timestamp = Date.now() } = terms
  const { address } = signer
  const message = registrationMessage(protocolName, { address, endpointUrl, timestamp })
  const signature = await signer.signMessage({ message })
  return { chainId, address, endpointUrl, name, timestamp, signature }
}

/** Signs an unregistration (docs/decisions.md, D5). @throws the errors of the signer */
export async function signUnregistration(
  signer: MessageSigner,
  { protocolName = 'Service', chainId, timestamp = Date.now() }: UnregistrationTerms,
): Promise<SignedUnregistration> {
  const { address } = signer
  const message = unregistrationMessage(protocolName, { address, timestamp })
  return { chainId, address, timestamp, signature: await signer.signMessage({ message }) }
}
