import type { Address, Client, Hex, TypedDataDomain } from 'viem'
import { getChainId, readContract } from 'viem/actions'
import { usedMembers } from '../../../src/domain/typed-data-domain.js'
import { hasNoSuchFunction } from './contract-errors.js'
import { termsAbi } from './settlement-abi.js'

/** The facts that checks of the quotes of one settlement contract need. */
export interface SettlementTerms {
  /** A viem client of a node that the user trusts. `verifyQuote` reads the contract's state with it. */
  readonly client: Client
  readonly chainId: number
  /** The contract's address. */
  readonly settlement: Address
  /** Part of the primary type, `<name>Quote`. */
  readonly protocolName: string
  /** EIP-712 domain, only with the members that the contract uses. */
  readonly domain: TypedDataDomain
  /** `DEPOSIT_PROXY_CREATION_CODE_HASH`, 32 bytes. */
  readonly depositProxyCodeHash: Hex
}

/**
 * Reads the facts that checks of quotes need from the contract itself, so that only the node must be trusted. They never change:
 * once for each contract is enough. The result keeps the client for `verifyQuote`.
 * @param client a viem client of a node that the user trusts
 * @param options.protocolName `PROTOCOL_NAME` of the instance; `Service` when left out
 * @throws viem's errors when the node does not answer, or the contract is of another kind
 */
export async function readSettlement(
  client: Client,
  settlement: Address,
  options: { readonly protocolName?: string } = {},
): Promise<SettlementTerms> {
  const { protocolName = 'Service' } = options
  const contract = { address: settlement, abi: termsAbi } as const
  const chainId = await getChainId(client)
  const [domain, depositProxyCodeHash] = await Promise.all([
    readDomain(client, { name: protocolName, version: '1', chainId, verifyingContract: settlement }),
    readContract(client, { ...contract, functionName: 'DEPOSIT_PROXY_CREATION_CODE_HASH' }),
  ])
  return { client, chainId, settlement, protocolName, domain, depositProxyCodeHash }
}

/** @param usual the domain of a contract without `eip712Domain` (docs/decisions.md, D1) */
async function readDomain(
  client: Client,
  usual: TypedDataDomain & { readonly verifyingContract: Address },
): Promise<TypedDataDomain> {
  try {
    const answer = await readContract(client, {
      address: usual.verifyingContract,
      abi: termsAbi,
      functionName: 'eip712Domain',
    })
    return usedMembers(answer)
  } catch (error) {
    if (hasNoSuchFunction(error)) return usual
    throw error
  }
}
