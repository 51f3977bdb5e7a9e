import type { PublicClient } from 'viem'
import { checkProtocolName, wrongName } from '../../../chain/src/contract/protocol-name.js'
import { verifyContract } from '../../../chain/src/contract/verify-contract.js'
import { readView } from '../../../protocol/src/node/read-view.js'
import { readTerms as readContractTerms } from '../../../protocol/src/settlement/read-settlement.js'
import type {
  QuoteTypedData,
  SettlementTerms,
  TypedDataDomain,
} from '../../../protocol/src/settlement/settlement.js'
import { settlementOf } from '../../../protocol/src/settlement/settlement-of-chain.js'
import type { QuoteHasher } from '../../../protocol/src/signing/typed-data.js'
import { freeBondOf } from '../../../protocol/src/solvers/solver.js'
import type { Address } from '../../../protocol/src/values/hex.js'
import { readMissCost } from './miss-cost.js'
import type { Finding } from './report.js'

/** What the solver signs for, and the rules of the contract. */
export interface SigningTerms {
  readonly chainId: number
  readonly hasher: QuoteHasher
  readonly typedData: QuoteTypedData
  readonly terms: SettlementTerms
  /** Reads the free bond of a solver; undefined when it has no bond yet. @throws ChainReadError */
  readonly readFreeBond: (solver: Address) => Promise<bigint | undefined>
  /** Says what a miss of an output token costs. */
  readonly missOf: (token: Address, freeBond: bigint | undefined) => Promise<Finding>
}

/**
 * Reads the terms from the settlement contract, as the service does.
 * @throws ChainConfigError when it is not a settlement contract of this protocol; ChainReadError and viem's errors when the
 *   node fails
 */
export async function readTerms(
  client: PublicClient,
  settlement: Address,
  protocolName: string,
): Promise<SigningTerms> {
  const chainId = await client.getChainId()
  const contract = { chainId, settlement }
  const { hasher, typedData } = await verifyContract(client, contract, protocolName)
  const [name, terms] = await Promise.all([
    checkProtocolName(client.request, contract, hasher),
    readContractTerms(client.request, contract),
  ])
  if (name === 'wrong') throw wrongName(protocolName, chainId, settlement)
  return {
    chainId,
    hasher,
    typedData: { ...typedData, domain: withNumber(typedData.domain) },
    terms,
    async readFreeBond(solver) {
      const bond = await readView(client.request, settlement, settlementOf(chainId).bond(solver))
      return bond.registered ? freeBondOf(bond) : undefined
    },
    missOf: (token, freeBond) => readMissCost(client, contract, token, { ...terms, freeBond }),
  }
}

/** The domain with its chain id in the form of all others. */
function withNumber({ chainId, ...domain }: TypedDataDomain): TypedDataDomain {
  return chainId === undefined ? domain : { ...domain, chainId: Number(chainId) }
}
