import type { Clock } from '../../packages/protocol/src/clock.js'
import type { QuoteRequest } from '../../packages/protocol/src/quotes/quote.js'
import type { Chain } from '../chain/chain.js'
import type { Auction, RoundResult } from './auction.js'
import type { QuoteIds } from './quote-ids.js'
import type { RoundErrors } from './round-errors.js'
import { roundLimitMs } from './round-limits.js'
import { noCounts } from './round-progress.js'
import { type RoundSink, tell, type UnstartedOutcome } from './sinks.js'
import { createStartQueue } from './start-queue.js'

interface QueuedAuctionOptions {
  readonly auction: Auction
  readonly chains: ReadonlyMap<number, Pick<Chain, 'wake'>>
  readonly clock: Pick<Clock, 'monotonic'>
  readonly quoteTimeoutMs: number
  readonly verifyTimeoutMs: number
  readonly quoteIds: Pick<QuoteIds, 'create'>
  readonly sinks: readonly RoundSink[]
  readonly roundErrors: Pick<RoundErrors, 'overloaded' | 'noOffer'>
}

/**
 * Lets rounds begin through the queue. A round that cannot begin in time asks no solver, and has the error SOLVERS_BUSY
 * (docs/decisions.md, D14).
 */
export function createQueuedAuction(options: QueuedAuctionOptions): Auction {
  const { auction, quoteIds, sinks, roundErrors, chains, clock } = options
  const startQueue = createStartQueue({ clock: clock.monotonic })

  function unstarted(
    request: QuoteRequest,
    outcome: UnstartedOutcome,
    error: RoundResult['error'],
    quoteId = quoteIds.create(),
  ): RoundResult {
    tell(sinks, { kind: 'unstarted', request, outcome })
    return { quoteId, offers: [], counts: noCounts(), error }
  }

  return {
    ...auction,
    async runRound(request, caller, roundOptions = {}) {
      const { chainId } = request
      const requestedAt = clock.monotonic()
      // The bonds and nonces of the first round after a time without demand are those of this moment (docs/decisions.md, D13).
      await chains.get(chainId)?.wake()
      return new Promise((resolve) => {
        startQueue.add({
          client: caller.client,
          requestedAt,
          limitMs: roundLimitMs(caller, roundOptions.verify ?? 'off', options),
          signal: caller.signal,
          start: () => resolve(auction.runRound(request, caller, { ...roundOptions, requestedAt })),
          refuse: (retryMs) =>
            resolve(unstarted(request, 'overloaded', roundErrors.overloaded(chainId, retryMs))),
          leave() {
            const quoteId = quoteIds.create()
            const error = roundErrors.noOffer(chainId, quoteId, {
              counts: noCounts(),
              notAsked: 0,
              attempts: [],
            })
            resolve(unstarted(request, 'cancelled', error, quoteId))
          },
        })
      })
    },
  }
}
