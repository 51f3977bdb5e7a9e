import { domainSeparator, type PublicClient } from 'viem'
import { readDomain } from '../../../packages/protocol/src/read-settlement.js'
import { ChainReadError } from '../../../packages/protocol/src/read-view.js'
import type { ChainConfig } from '../../config/config.js'
import { quoteTypeName } from '../../domain/quotes/quote.js'
import { createQuoteHasher, type QuoteHasher, type QuoteTypedData } from '../../signing/typed-data.js'
import { ChainConfigError } from '../chain-config-error.js'

/** The values of a settlement contract that never change, and without which nothing is known of its quotes. */
export interface VerifiedContract {
  readonly hasher: QuoteHasher
  readonly typedData: QuoteTypedData
}

/**
 * Reads the contract's domain and the code hash of its deposit addresses.
 * @throws ChainConfigError when it is not a settlement contract of this protocol; ChainReadError when the node fails
 */
export async function verifyContract(
  { request }: Pick<PublicClient, 'request'>,
  { chainId, settlement }: Pick<ChainConfig, 'chainId' | 'settlement'>,
  protocolName: string,
): Promise<VerifiedContract> {
  try {
    const read = await readDomain(request, { chainId, settlement, protocolName })
    const { domain, depositProxyCodeHash } = read
    const hashed = { settlement, domainSeparator: domainSeparator({ domain }), depositProxyCodeHash }
    const typedData = { primaryType: quoteTypeName(protocolName), domain }
    return { hasher: createQuoteHasher(protocolName, hashed), typedData }
  } catch (error) {
    if (!(error instanceof ChainReadError) || error.failure === 'failed') throw error
    const issue =
      error.failure === 'absent'
        ? 'which is not a settlement contract of this protocol'
        : `where chain ${chainId} has no contract`
    throw new ChainConfigError(`SERVICE_ADDRESS_${chainId}`, `is ${settlement}, ${issue}`)
  }
}
