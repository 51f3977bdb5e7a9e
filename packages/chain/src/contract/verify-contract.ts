import { domainSeparator, type PublicClient } from 'viem'
import { ChainReadError } from '../../../protocol/src/node/chain-read-error.js'
import { quoteTypeName } from '../../../protocol/src/quotes/quote.js'
import { readDomain } from '../../../protocol/src/settlement/read-settlement.js'
import type { QuoteTypedData } from '../../../protocol/src/settlement/settlement.js'
import { settlementOf } from '../../../protocol/src/settlement/settlement-of-chain.js'
import { createQuoteHasher, type QuoteHasher } from '../../../protocol/src/signing/typed-data.js'
import type { Address } from '../../../protocol/src/values/hex.js'
import { ChainConfigError } from './chain-config-error.js'

/** Where a settlement contract is. */
export interface ContractPlace {
  readonly chainId: number
  readonly settlement: Address
}

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
  { request }: PublicClient,
  { chainId, settlement }: ContractPlace,
  protocolName: string,
): Promise<VerifiedContract> {
  try {
    const read = await readDomain(request, { chainId, settlement, protocolName }, settlementOf(chainId))
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
