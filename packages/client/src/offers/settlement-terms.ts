import { type Address, type Client, getAddress, type Hex, type TypedDataDomain } from 'viem'
import { readChainId } from '../../../protocol/src/node/read-view.js'
import { type NamedSettlement, readDomain } from '../../../protocol/src/settlement/read-settlement.js'
import { depositProxyCodeHash, domain } from '../../../protocol/src/settlement/settlement-of-chain.js'
import { lowerCase } from '../../../protocol/src/values/hex.js'
import { AggregatorError } from '../calls/aggregator-error.js'
import { addressProblem, check } from '../calls/check-arguments.js'
import type { AggregatorClient } from '../client.js'

/** The facts that checks of the quotes of one settlement contract need. */
export interface SettlementTerms {
  /** A viem client of a node that the user trusts. `verifyQuote` reads the contract's state with it. */
  readonly client: Client
  readonly chainId: number
  /** The contract's address, in EIP-55 form. */
  readonly settlement: Address
  /** Part of the primary type, `<name>Quote`. */
  readonly protocolName: string
  /** EIP-712 domain, only with the members that the contract uses. */
  readonly domain: TypedDataDomain
  /** `DEPOSIT_PROXY_CREATION_CODE_HASH`, 32 bytes. */
  readonly depositProxyCodeHash: Hex
}

const contract = { domain, depositProxyCodeHash }

/** An instance that may name the settlement contract. Only for development: it could name any contract. */
export interface InstanceTrust {
  /** Says that you know the risk. */
  readonly trustInstance: true
  readonly aggregator: Pick<AggregatorClient, 'listChains'>
}

/**
 * Reads the facts that checks of quotes need from the contract itself, so that only the node must be trusted. They never change:
 * once for each contract is enough. The result keeps the client for `verifyQuote`.
 * @param client a viem client of a node that the user trusts
 * @param settlement the address that the app pins, in any letter case; `InstanceTrust` takes it from an instance in its place
 * @param options.protocolName `PROTOCOL_NAME` of the instance. When left out it is `Service`, or the name that the trusted
 * instance gives
 * @throws ChainReadError when the node fails, or the contract is of another kind; AggregatorError for a settlement that is no
 * address (INVALID_ARGUMENT), and when the trusted instance does not answer, or does not serve the node's chain
 * (CHAIN_NOT_SUPPORTED)
 */
export async function readSettlement(
  client: Client,
  settlement: Address | InstanceTrust,
  options: { readonly protocolName?: string } = {},
): Promise<SettlementTerms> {
  if (typeof settlement !== 'object' || settlement === null) check({ settlement: addressProblem(settlement) })
  else {
    const isTrusted = settlement.trustInstance === true
    check({ trustInstance: isTrusted ? undefined : 'must be true: the instance could name any contract' })
  }
  const chainId = await readChainId(client.request)
  if (typeof settlement !== 'object')
    return readTerms(client, { chainId, settlement, protocolName: options.protocolName ?? 'Service' })
  const named = await askInstance(settlement, chainId)
  return readTerms(client, { ...named, protocolName: options.protocolName ?? named.protocolName })
}

/** @throws AggregatorError */
async function askInstance({ aggregator }: InstanceTrust, chainId: number) {
  const chain = (await aggregator.listChains()).find((served) => served.chainId === chainId)
  if (chain === undefined)
    throw new AggregatorError('CHAIN_NOT_SUPPORTED', `The instance does not serve chain ${chainId}.`)
  return chain
}

async function readTerms(
  client: Client,
  { chainId, protocolName, ...named }: NamedSettlement,
): Promise<SettlementTerms> {
  // Other checksums, such as those of EIP-1191, would be refused by viem.
  const settlement = getAddress(lowerCase(named.settlement))
  const read = await readDomain(client.request, { chainId, settlement, protocolName }, contract)
  return { client, chainId, settlement, protocolName, ...read }
}
