import type { ChainConfig } from '../config.js'
import type { ConfigMistake } from '../environment.js'
import { createQuoteHasher, type QuoteHasher } from '../signing/typed-data.js'
import type { Endpoint, RpcClient } from './rpc-client.js'
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
 * Makes sure that an endpoint is of the chain.
 * @throws ChainMistake, or viem's errors when it does not answer
 */
export async function assertChainId({ client }: Endpoint, index: number, chainId: number): Promise<void> {
  const answer = await client.getChainId()
  if (answer !== chainId)
    throw new ChainMistake(`RPC_URL_${chainId}`, `has URL ${index + 1} answering for chain ${answer}`)
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
  const checks = rpc.endpoints.map((endpoint, index) => assertChainId(endpoint, index, chainId))
  for (const check of await Promise.allSettled(checks)) {
    if (check.status === 'rejected' && check.reason instanceof ChainMistake) throw check.reason
  }

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
