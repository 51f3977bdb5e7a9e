import type { ChainConfig } from '../config.js'
import type { ConfigMistake } from '../environment.js'
import { createQuoteHasher, type QuoteHasher } from '../signing/typed-data.js'
import type { RpcClient } from './rpc-client.js'
import { NotASettlementError, type Settlement } from './settlement.js'

/** The chain answers, and is not what the configuration says. */
export class ChainMistake extends Error implements ConfigMistake {
  override readonly name = 'ChainMistake'
  readonly variable: string

  constructor(variable: string, message: string) {
    super(message)
    this.variable = variable
  }
}

/**
 * Makes sure that a chain is the configured one and reads what is read of its contract only once.
 * @returns the hasher of the contract's quotes
 * @throws ChainMistake, or viem's errors when the chain does not answer
 */
export async function introduce(
  { chainId, settlement: address }: ChainConfig,
  rpc: RpcClient,
  settlement: Settlement,
  protocolName: string,
): Promise<QuoteHasher> {
  const answers = await Promise.allSettled(rpc.endpoints.map(({ client }) => client.getChainId()))
  answers.forEach((answer, index) => {
    if (answer.status === 'fulfilled' && answer.value !== chainId) {
      throw new ChainMistake(`RPC_URL_${chainId}`, `has URL ${index + 1} answering for chain ${answer.value}`)
    }
  })

  const variable = `SERVICE_ADDRESS_${chainId}`
  const code = await rpc.client.getCode({ address })
  if (code === undefined)
    throw new ChainMistake(variable, `is ${address}, where chain ${chainId} has no contract`)
  try {
    return createQuoteHasher(protocolName, await settlement.readDomain(protocolName))
  } catch (error) {
    if (!(error instanceof NotASettlementError)) throw error
    throw new ChainMistake(variable, `is ${address}, which is no settlement contract of this protocol`)
  }
}
