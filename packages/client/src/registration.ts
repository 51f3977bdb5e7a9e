import type { Address, Hex } from 'viem'

/** Who signs: any viem account, or anything that has an address and signs personal messages (EIP-191). */
export interface MessageSigner {
  readonly address: Address
  signMessage(parameters: { message: string }): Promise<Hex>
}

/** What a solver registers. */
export interface RegistrationTerms {
  /** The instance's `PROTOCOL_NAME`; `Service` when left out. */
  readonly protocolName?: string
  readonly chainId: number
  /** The instance posts to `<endpointUrl>/quote`. */
  readonly endpointUrl: string
  /** Display name, 1 to 64 characters. */
  readonly name: string
  /** Unix time in milliseconds, newer than the last one accepted; now when left out. */
  readonly timestamp?: number
}

/** What a solver withdraws. */
export type UnregistrationTerms = Pick<RegistrationTerms, 'protocolName' | 'chainId' | 'timestamp'>

/** A registration as `registerSolver` takes it. */
export interface SignedRegistration {
  readonly chainId: number
  readonly address: Address
  readonly endpointUrl: string
  readonly name: string
  readonly timestamp: number
  readonly signature: Hex
}

/** A withdrawal as `unregisterSolver` takes it. */
export type SignedUnregistration = Omit<SignedRegistration, 'endpointUrl' | 'name'>

/** Signs a registration (docs/protocol.md, "Registration messages"). @throws what the signer throws */
export async function signRegistration(
  signer: MessageSigner,
  terms: RegistrationTerms,
): Promise<SignedRegistration> {
  const { protocolName = 'Service', chainId, endpointUrl, name, timestamp = Date.now() } = terms
  const { address } = signer
  const message = [
    `${protocolName} Solver Registration`,
    `Address: ${address.toLowerCase()}`,
    `Endpoint: ${endpointUrl}`,
    `Timestamp: ${timestamp}`,
  ].join('\n')
  const signature = await signer.signMessage({ message })
  return { chainId, address, endpointUrl, name, timestamp, signature }
}

/** Signs a withdrawal (docs/decisions.md, D5). @throws what the signer throws */
export async function signUnregistration(
  signer: MessageSigner,
  terms: UnregistrationTerms,
): Promise<SignedUnregistration> {
  const { protocolName = 'Service', chainId, timestamp = Date.now() } = terms
  const { address } = signer
  const message = [
    `${protocolName} Solver Unregistration`,
    `Address: ${address.toLowerCase()}`,
    `Timestamp: ${timestamp}`,
  ].join('\n')
  const signature = await signer.signMessage({ message })
  return { chainId, address, timestamp, signature }
}
