import { domainSeparator, type PublicClient } from 'viem'
import { checkProtocolName, wrongName } from '../../../chain/src/contract/protocol-name.js'
import { verifyContract } from '../../../chain/src/contract/verify-contract.js'
import { createRpcClient } from '../../../chain/src/rpc-client.js'
import { readView } from '../../../protocol/src/node/read-view.js'
import { quoteTypeName } from '../../../protocol/src/quotes/quote.js'
import { readTerms as readContractTerms } from '../../../protocol/src/settlement/read-settlement.js'
import type {
  QuoteTypedData,
  SettlementTerms,
  TypedDataDomain,
} from '../../../protocol/src/settlement/settlement.js'
import { settlementOf } from '../../../protocol/src/settlement/settlement-of-chain.js'
import { toChecksumAddress } from '../../../protocol/src/signing/checksum.js'
import { createQuoteHasher, type QuoteHasher } from '../../../protocol/src/signing/typed-data.js'
import { freeBondOf } from '../../../protocol/src/solvers/solver.js'
import type { Address, Hex } from '../../../protocol/src/values/hex.js'

import { readMissCost } from './miss-cost.js'
import type { Finding } from './report.js'

/** What the solver signs for, and the rules of the contract that are known. */
export interface SigningTerms {
  readonly chainId: number
  readonly settlement: Address
  readonly hasher: QuoteHasher
  readonly typedData: QuoteTypedData
  /** Without values when no chain was read. */
  readonly terms: SettlementTerms
  /** Reads the free bond of a solver; undefined when it has no bond yet, or no chain is read. @throws ChainReadError */
  readonly readFreeBond: (solver: Address) => Promise<bigint | undefined>
  /** Says what a miss of an output token costs; undefined when no chain is read. */
  readonly missOf?: (token: Address, freeBond: bigint | undefined) => Promise<Finding>
  readonly source: 'chain' | 'options'
}

interface GivenTerms {
  readonly chainId: number
  readonly settlement: Address
  readonly protocolName: string
  readonly domainName: string
  readonly domainVersion: string
}

interface ChainTerms extends Pick<GivenTerms, 'settlement' | 'protocolName'> {
  readonly rpcUrl: string
}

const NO_TERMS: SettlementTerms = { bondReservationBps: undefined, minOrder: undefined }
/** Only deposit addresses depend on it, and `certify` shows none. */
const NO_CODE_HASH: Hex = `0x${'00'.repeat(32)}`

/** Builds the hashes of quotes that are signed in a domain. */
export function hasherUnder(protocolName: string, settlement: Address, domain: TypedDataDomain): QuoteHasher {
  const separator = domainSeparator({ domain })
  return createQuoteHasher(protocolName, {
    settlement,
    domainSeparator: separator,
    depositProxyCodeHash: NO_CODE_HASH,
  })
}

/** The terms without a chain: the domain has the four usual members. */
export function givenTerms({ protocolName, ...options }: GivenTerms): SigningTerms {
  const { chainId, settlement, domainName, domainVersion } = options
  const verifyingContract = toChecksumAddress(settlement)
  const domain = { name: domainName, version: domainVersion, chainId, verifyingContract }
  const hasher = hasherUnder(protocolName, settlement, domain)
  const typedData = { primaryType: quoteTypeName(protocolName), domain }
  const readFreeBond = async () => undefined
  return { chainId, settlement, hasher, typedData, terms: NO_TERMS, readFreeBond, source: 'options' }
}

/**
 * Reads the terms from the settlement contract, as the service does.
 * @throws ChainConfigError when it is not a settlement contract of this protocol; ChainReadError and viem's errors when the
 *   node fails
 */
export function readTerms({ settlement, protocolName, rpcUrl }: ChainTerms): Promise<SigningTerms> {
  return withNode(rpcUrl, async (client) => {
    const chainId = await client.getChainId()
    const contract = { chainId, settlement }
    const { hasher, typedData } = await verifyContract(client, contract, protocolName)
    const [name, terms] = await Promise.all([
      checkProtocolName(client.request, contract, hasher),
      readContractTerms(client.request, contract),
    ])
    if (name === 'wrong') throw wrongName(protocolName, chainId, settlement)
    const named = { ...typedData, domain: withNumber(typedData.domain) }
    const readFreeBond = (solver: Address) =>
      withNode(rpcUrl, async ({ request }) => {
        const bond = await readView(request, settlement, settlementOf(chainId).bond(solver))
        return bond.registered ? freeBondOf(bond) : undefined
      })
    const missOf = (token: Address, freeBond: bigint | undefined) =>
      withNode(rpcUrl, (client) => readMissCost(client, contract, token, { ...terms, freeBond }))
    return { ...contract, hasher, typedData: named, terms, readFreeBond, missOf, source: 'chain' }
  })
}

async function withNode<T>(rpcUrl: string, work: (client: PublicClient) => Promise<T>): Promise<T> {
  const { client, close } = createRpcClient([rpcUrl])
  return work(client).finally(close)
}

/** The domain with its chain id in the form of all others. */
function withNumber({ chainId, ...domain }: TypedDataDomain): TypedDataDomain {
  return chainId === undefined ? domain : { ...domain, chainId: Number(chainId) }
}
