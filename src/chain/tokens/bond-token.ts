import { zeroAddress } from 'viem'
import { wordsOf } from '../../../packages/protocol/src/node/node-words.js'
import { findView } from '../../../packages/protocol/src/node/read-view.js'
import { settlementOf } from '../../../packages/protocol/src/settlement/settlement-of-chain.js'
import type { Address } from '../../../packages/protocol/src/values/hex.js'
import { createRetry } from '../../concurrency/retry.js'
import type { ChainContext } from '../context.js'
import type { EndpointVerifier } from '../contract/verify-endpoint.js'
import type { TokenMetadata, TokenReader } from './token-reader.js'

/** The ERC-20 token of the solvers' bonds, as its contract describes it. */
export interface BondToken extends TokenMetadata {
  readonly address: Address
}

/** A token that uses up all gas looks like a node that fails. So the delay grows, from one second to ten minutes. */
const MAX_RETRY_MS = 600_000

/**
 * Builds the reader of one chain's bond token, which reads in the background (docs/decisions.md, D17). The service also works without it.
 */
export function createBondTokenReader(
  { config, clock, log }: ChainContext,
  readAny: EndpointVerifier['readAny'],
  tokens: TokenReader,
) {
  const { chainId, settlement } = config
  let address: Address | undefined
  let bondToken: BondToken | undefined

  const reading = createRetry({
    maxDelayMs: MAX_RETRY_MS,
    clock,
    async work() {
      address ??= await readAny(({ request }) =>
        findView(request, settlement, settlementOf(chainId).bondToken()),
      )
      if (address === undefined || address === zeroAddress) return
      const { failure, ...metadata } = await tokens.read(address)
      bondToken = { address, ...metadata }
      if (failure !== undefined) throw failure
    },
    onFailure: (error) =>
      log.warn({ chainId, reason: wordsOf(error) }, 'the bond token cannot be read yet, or only in part'),
  })

  return {
    /** The same object until more of the token is known. Undefined before, and when the contract names no token. */
    bondToken: (): BondToken | undefined => bondToken,
    /** Begins to read. A value that a node has answered is not read again. Call it once. */
    start: (): void => reading.run(),
    close: reading.close,
  }
}
