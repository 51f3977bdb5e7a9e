import type { ChainConfig } from '../config.js'
import type { SettlementTerms } from '../domain/settlement-terms.js'
import type { ConfigIssue } from '../environment.js'
import {
  createQuoteHasher,
  type QuoteHasher,
  type QuoteTypedData,
  quoteTypeName,
} from '../signing/typed-data.js'
import type { Logger } from '../telemetry/log.js'
import { checkProtocolName, explainWrongName } from './protocol-name.js'
import type { Endpoint } from './rpc-client.js'
import { createSettlement, NotASettlementError, type Settlement } from './settlement.js'

/** The chain answers, and is not what the configuration says. */
export class ChainConfigError extends Error implements ConfigIssue {
  override readonly name = 'ChainMistake'
  readonly variable: string

  constructor(variable: string, message: string) {
    super(message)
    this.variable = variable
  }
}

/** A mistake with the variable that has to be corrected. */
export function describeConfigError({ variable, message }: ChainConfigError): string {
  return `${variable} ${message}`
}

/** What is read once of a chain's settlement contract. */
export interface VerifiedContract {
  readonly hasher: QuoteHasher
  readonly typedData: QuoteTypedData
  readonly terms: SettlementTerms
}

/**
 * Builds what makes sure of an endpoint before anything is read there: of all of them at first, of those that did not
 * answer then when they are used.
 * @returns what the contract is, read only once; throws ChainConfigError, or viem's errors when the endpoint
 *   does not answer
 */
export function createEndpointVerifier(
  config: ChainConfig,
  endpoints: readonly Endpoint[],
  { protocolName, log }: { readonly protocolName: string; readonly log: Logger },
): (endpoint: Endpoint) => Promise<VerifiedContract> {
  const peek = new Set<Endpoint>()
  let unasked = endpoints
  let contract: VerifiedContract | undefined

  async function assertChainId(endpoint: Endpoint): Promise<void> {
    if (peek.has(endpoint)) return
    const answer = await endpoint.client.getChainId()
    if (answer !== config.chainId) {
      const place = endpoints.length > 1 ? `URL ${endpoints.indexOf(endpoint) + 1} ` : ''
      const { chainId } = config
      throw new ChainConfigError(
        `RPC_URL_${chainId}`,
        `${place}answers for chain ${answer}, and not for ${chainId}`,
      )
    }
    peek.add(endpoint)
  }

  return async (endpoint) => {
    const asked = unasked.length > 0 ? unasked : [endpoint]
    unasked = []
    const answers = await Promise.allSettled(asked.map(assertChainId))
    const reasons = answers.flatMap((answer) => (answer.status === 'rejected' ? [answer.reason] : []))
    const issue = reasons.find((reason) => reason instanceof ChainConfigError)
    if (issue !== undefined) throw issue
    if (!peek.has(endpoint)) throw reasons[0]
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
      throw new ChainConfigError(variable, `is ${address}, which is no settlement contract of this protocol`)
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
