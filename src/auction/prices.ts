import { setMaxListeners } from 'node:events'
import { ServiceError } from '../../packages/protocol/src/errors.js'
import { NO_USER, type QuoteRequest, type Swap } from '../../packages/protocol/src/quotes/quote.js'
import { deadlines } from '../../packages/protocol/src/signing/quote-request.js'
import type { Address } from '../../packages/protocol/src/values/hex.js'
import type { ClientId } from '../clients/client-id.js'
import { createSharedResults } from '../concurrency/shared-results.js'
import type { Auction, RoundCall } from './auction.js'
import type { AuctionContext } from './context.js'
import { ownSoftDeadline } from './round.js'

/** A swap to be priced. Equal ones share an auction, so its addresses are in lower case. */
export interface PricedSwap extends Swap {
  /** The shortest time for which an offer may bind, in seconds; undefined for the whole deposit window. */
  readonly minDepositWindow?: number | undefined
}

/** What one solver would give. Amounts in the token's smallest unit. */
interface SolverPrice {
  readonly solver: Address
  /** Display name. */
  readonly name: string
  readonly inputAmount: bigint
  readonly outputAmount: bigint
}

/** The result of an auction. It has no nonce and no signature, so that nobody can deposit with it. */
export interface Price {
  /** The id of the auction's record, a UUID. */
  readonly quoteId: string
  readonly best: SolverPrice
  /** Number of valid offers. */
  readonly offers: number
  /** When the auction ended, Unix time in milliseconds. */
  readonly asOf: number
}

/** Prices of swaps, from auctions that no user takes part in (docs/decisions.md, D17). */
export interface Prices {
  /**
   * Holds an auction, unless one for the same swap is under way or ended within PRICE_CACHE_MS. Callers that wait for one
   * auction get the same result or error. None of them can shorten it: it has no caller's deadline, signal or trace.
   * @param client for circuit breakers, an auction counts for its first caller
   * @throws ServiceError NO_QUOTES, SOLVERS_BUSY or CHAIN_UNAVAILABLE
   */
  get(swap: PricedSwap, client: ClientId): Promise<Price>
  /** Ends the auctions under way. */
  close(): Promise<void>
}

/** Auctions in memory, of all chains together. */
const MAX_PRICES = 10_000

/**
 * Builds the prices. The auctions under way have no bound of their own: each one needs connections to solvers, and is
 * rejected with SOLVERS_BUSY when they are in use or when it could not begin in time.
 */
export function createPrices(context: AuctionContext, rounds: Auction): Prices {
  const { config, directory, metrics, clock } = context
  const softDeadline = ownSoftDeadline(config.quoteSoftTimeoutMs)
  const end = new AbortController()
  // Each auction listens. Node warns of a leak when there are more than ten.
  setMaxListeners(0, end.signal)
  const prices = createSharedResults<Price>(MAX_PRICES, clock, () => config.priceCacheMs)

  const count = ({ chainId }: PricedSwap, outcome: string) =>
    metrics.prices.inc({ chain_id: chainId, outcome })

  async function hold(
    { minDepositWindow: shortest, ...swap }: PricedSwap,
    caller: RoundCall,
  ): Promise<Price> {
    const { chainId } = swap
    const request = indicativeRequest(context, swap, shortest)
    // The round asks solvers of this list. A later one may lack them.
    const names = new Map(directory.reachable(chainId).map(({ address, name }) => [address, name]))
    const { quoteId, offers, error } = await rounds.runRound(request, caller, { softDeadline })
    count(swap, outcomeOf(error))
    const [best] = offers
    if (best === undefined) throw error
    const { solver, inputAmount, outputAmount } = best.quote
    const name = names.get(solver) ?? ''
    return {
      quoteId,
      best: { solver, name, inputAmount, outputAmount },
      offers: offers.length,
      asOf: clock.now(),
    }
  }

  return {
    async get(swap, client) {
      const key = keyOf(swap)
      const read = () => hold(swap, { client, signal: end.signal, timeoutMs: undefined })
      const known = prices.find(key)
      if (known === undefined) return prices.get(key, read)
      count(swap, Number.isFinite(known.until) ? 'cached' : 'shared')
      try {
        return await known.result
      } catch (error) {
        // It waited in the queue as the caller that began it. This caller's own turn may come earlier.
        if (!(error instanceof ServiceError) || error.reason !== 'SOLVERS_BUSY') throw error
        return prices.get(key, read)
      }
    },

    async close() {
      end.abort()
      await prices.idle()
    },
  }
}

/** The request that no user takes part in. @param minDepositWindowSeconds undefined for the whole deposit window */
export function indicativeRequest(
  { config, deadlineTime }: AuctionContext,
  swap: Swap,
  minDepositWindowSeconds?: number,
): QuoteRequest {
  const windows = {
    depositWindowSeconds: config.defaultDepositWindowSeconds,
    fillWindowSeconds: config.defaultFillWindowSeconds,
    minDepositWindowSeconds,
  }
  return {
    kind: 'INDICATIVE',
    ...swap,
    user: NO_USER,
    destinationChainId: swap.chainId,
    depositMode: 'CONTRACT',
    ...deadlines(deadlineTime(swap.chainId), windows),
  }
}

/** The same text for equal swaps only: no part can have a colon. */
function keyOf({
  chainId,
  inputToken,
  outputToken,
  orderType,
  amount,
  minDepositWindow,
}: PricedSwap): string {
  return [chainId, inputToken, outputToken, orderType, amount, minDepositWindow].join(':')
}

function outcomeOf(error: ServiceError | undefined): string {
  if (error === undefined) return 'quoted'
  return error.reason === 'SOLVERS_BUSY' ? 'busy' : 'no_quotes'
}
