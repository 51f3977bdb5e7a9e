import type { PublicClient } from 'viem'
import type { ChainConfig } from '../config.js'
import { quoteTypeName } from '../domain/quote.js'
import type { SettlementTerms } from '../domain/settlement-terms.js'
import { createQuoteHasher, type QuoteHasher, type QuoteTypedData } from '../signing/typed-data.js'
import type { Logger } from '../telemetry/log.js'
import { ChainConfigError } from './chain-config-error.js'
import { checkProtocolName, explainWrongName } from './protocol-name.js'
import { createSettlement, NotASettlementError, type Settlement } from './settlement.js'

/** The values of a settlement contract that are read once. */
export interface VerifiedContract {
  readonly hasher: QuoteHasher
  readonly typedData: QuoteTypedData
  readonly terms: SettlementTerms
}

type Contract = Pick<ChainConfig, 'chainId' | 'settlement'>

interface VerifyContractOptions {
  readonly protocolName: string
  readonly log: Logger
}

/**
 * Reads the contract's values once.
 * @throws ChainConfigError when it is not a settlement contract of this protocol; viem's errors when the node does not
 *   answer
 */
export async function verifyContract(
  client: PublicClient,
  contract: Contract,
  options: VerifyContractOptions,
): Promise<VerifiedContract> {
  const { chainId, settlement: address } = contract
  const { protocolName } = options
  const variable = `SERVICE_ADDRESS_${chainId}`
  const code = await client.getCode({ address })
  if (code === undefined)
    throw new ChainConfigError(variable, `is ${address}, where chain ${chainId} has no contract`)
  const settlement = createSettlement(client, chainId, address)
  try {
    const [domain, terms] = await Promise.all([settlement.readDomain(protocolName), settlement.readTerms()])
    const hasher = createQuoteHasher(protocolName, domain)
    await assertProtocolName(settlement, hasher, contract, options)
    const typedData = { primaryType: quoteTypeName(protocolName), domain: domain.typedDataDomain }
    return { hasher, typedData, terms }
  } catch (error) {
    if (!(error instanceof NotASettlementError)) throw error
    throw new ChainConfigError(variable, `is ${address}, which is not a settlement contract of this protocol`)
  }
}

async function assertProtocolName(
  settlement: Settlement,
  hasher: QuoteHasher,
  { chainId, settlement: address }: Contract,
  { protocolName, log }: VerifyContractOptions,
): Promise<void> {
  const name = await checkProtocolName(settlement, hasher)
  if (name === 'wrong')
    throw new ChainConfigError('PROTOCOL_NAME', explainWrongName(protocolName, chainId, address))
  if (name === 'unknown')
    log.warn(
      { chainId, protocolName },
      'the contract has no computeDepositAddress, so PROTOCOL_NAME cannot be checked',
    )
}
