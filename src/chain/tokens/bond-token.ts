import { type PublicClient, zeroAddress } from 'viem'
import type { Clock } from '../../../packages/protocol/src/clock.js'
import { wordsOf } from '../../../packages/protocol/src/node/node-words.js'
import { findView } from '../../../packages/protocol/src/node/read-view.js'
import { settlementOf } from '../../../packages/protocol/src/settlement/settlement-of-chain.js'
import type { Address } from '../../../packages/protocol/src/values/hex.js'
import { createRetry } from '../../concurrency/retry.js'
import type { Logger } from '../../telemetry/log.js'
import type { TokenMetadata, TokenReader } from './token-reader.js'

/** The ERC-20 token of the solvers' bonds, as its contract describes it. */
export interface BondToken extends TokenMetadata {
  readonly address: Address
}

interface BondTokenReaderOptions {
  readonly chainId: number
  readonly settlement: Address
  /** Reads from an endpoint of the chain. */
  readonly readAny: <T>(read: (client: PublicClient) => Promise<T>) => Promise<T>
  readonly tokens: TokenReader
  readonly clock: Clock
  readonly log: Logger
}

/** A token that uses up all gas looks like a node that fails. So the delay grows, from one second to ten minutes. */
const MAX_RETRY_MS = 600_000

/**
 * Builds the reader of one chain's bond token, which reads in the background (docs/decisions.md, D17). The service also works without it.
 */
export function createBondTokenReader(options: BondTokenReaderOptions) {
  const { chainId, settlement, readAny, tokens, clock, log } = options
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
