import type { ChainConfig } from '../config.js'
import { quoteTypeName } from '../domain/quote.js'
import type { SettlementTerms } from '../domain/settlement-terms.js'
import type { ConfigIssue } from '../environment.js'
import { createQuoteHasher, type QuoteHasher, type QuoteTypedData } from '../signing/typed-data.js'
import type { Logger } from '../telemetry/log.js'
import { checkProtocolName, explainWrongName } from './protocol-name.js'
import type { Endpoint } from './rpc-client.js'
import { createSettlement, NotASettlementError, type Settlement } from './settlement.js'

/** The chain answers and does not match the configuration. */
export class ChainConfigError extends Error implements ConfigIssue {
  override readonly name = 'ChainConfigError'
  readonly variable: string

  constructor(variable: string, message: string) {
    super(message)
    this.variable = variable
  }
}

/** A configuration error with the variable to correct. */
export function describeConfigError({ variable, message }: ChainConfigError): string {
  return `${variable} ${message}`
}

/** The values of a settlement contract that are read once. */
export interface VerifiedContract {
  readonly hasher: QuoteHasher
  readonly typedData: QuoteTypedData
  readonly terms: SettlementTerms
}

/**
 * Builds the verifier of a chain's endpoints. Its first call verifies all of them. Endpoints that did not answer then
 * are verified before their first use.
 * @returns a function that returns the contract's values, which are read once. It throws ChainConfigError, or viem's
 *   errors when the endpoint does not answer
 */
export function createEndpointVerifier(
  config: ChainConfig,
  endpoints: readonly Endpoint[],
  { protocolName, log }: { readonly protocolName: string; readonly log: Logger },
): (endpoint: Endpoint) => Promise<VerifiedContract> {
  const verified = new Set<Endpoint>()
  let unverified = endpoints
  let contract: VerifiedContract | undefined

  async function assertChainId(endpoint: Endpoint): Promise<void> {
    if (verified.has(endpoint)) return
    const answer = await endpoint.client.getChainId()
    if (answer !== config.chainId) {
      const place = endpoints.length > 1 ? `URL ${endpoints.indexOf(endpoint) + 1} ` : ''
      const { chainId } = config
      throw new ChainConfigError(
        `RPC_URL_${chainId}`,
        `${place}answers for chain ${answer}, and not for ${chainId}`,
      )
    }
    verified.add(endpoint)
  }

  return async (endpoint) => {
    const asked = unverified.length > 0 ? unverified : [endpoint]
    unverified = []
    const answers = await Promise.allSettled(asked.map(assertChainId))
    const reasons = answers.flatMap((answer) => (answer.status === 'rejected' ? [answer.reason] : []))
    const issue = reasons.find((reason) => reason instanceof ChainConfigError)
    if (issue !== undefined) throw issue
    if (!verified.has(endpoint)) throw reasons[0]
    contract ??= await readContract(endpoint)
    return contract
  }

  async function readContract({ client }: Endpoint): Promise<VerifiedContract> {
    const { chainId, settlement: address } = config
    const variable = `SERVICE_ADDRESS_${chainId}`
    const code = await client.getCode({ address })
    if (code === undefined)
      throw new ChainConfigError(variable, `is ${address}, where chain ${chainId} has no contract`)
    const settlement = createSettlement(client, chainId, address)
    try {
      const [domain, terms] = await Promise.all([settlement.readDomain(protocolName), settlement.readTerms()])
      const hasher = createQuoteHasher(protocolName, domain)
      await assertProtocolName(settlement, hasher)
      const typedData = { primaryType: quoteTypeName(protocolName), domain: domain.typedDataDomain }
      return { hasher, typedData, terms }
    } catch (error) {
      if (!(error instanceof NotASettlementError)) throw error
      throw new ChainConfigError(
        variable,
        `is ${address}, which is not a settlement contract of this protocol`,
      )
    }
  }

  async function assertProtocolName(settlement: Settlement, hasher: QuoteHasher): Promise<void> {
    const { chainId, settlement: address } = config
    const name = await checkProtocolName(settlement, hasher)
    if (name === 'wrong')
      throw new ChainConfigError('PROTOCOL_NAME', explainWrongName(protocolName, chainId, address))
    if (name === 'unknown')
      log.warn(
        { chainId, protocolName },
        'the contract has no computeDepositAddress, so PROTOCOL_NAME cannot be checked',
      )
  }
}
