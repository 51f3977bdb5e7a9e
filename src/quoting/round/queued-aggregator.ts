import type { Chain } from '../../chain/chain.js'
import type { Clock } from '../../clock.js'
import type { ClientId } from '../../domain/client.js'
import type { Aggregator, RoundOptions, RoundResult } from './aggregator.js'
import type { FanOut } from './fan-out.js'
import type { QuoteIds } from './quote-ids.js'
import type { RoundErrors } from './round-errors.js'
import type { RoundMetrics } from './round-metrics.js'
import { RoundProgress } from './round-progress.js'
import type { StartQueue } from './start-queue.js'

interface QueuedAggregatorOptions {
  readonly aggregator: Aggregator
  readonly chains: ReadonlyMap<number, Pick<Chain, 'wake'>>
  readonly clock: Pick<Clock, 'monotonic'>
  readonly startQueue: StartQueue
  readonly fanOut: Pick<FanOut, 'limitMs'>
  readonly quoteIds: Pick<QuoteIds, 'create'>
  readonly roundMetrics: Pick<RoundMetrics, 'countUnstarted'>
  readonly roundErrors: Pick<RoundErrors, 'overloaded' | 'noOffer'>
  readonly identifyClient: (address: string) => ClientId
}

/**
 * Lets rounds begin through the queue. A round that cannot begin in time asks no solver, and has the error SOLVERS_BUSY
 * (docs/decisions.md, D14).
 */
export function createQueuedAggregator(options: QueuedAggregatorOptions): Aggregator {
  const { aggregator, startQueue, fanOut, quoteIds, roundMetrics, roundErrors, identifyClient } = options
  const { chains, clock } = options

  function unstarted(error: RoundResult['error'], quoteId: string): RoundResult {
    return { quoteId, offers: [], counts: NOTHING_ASKED, error }
  }

  return {
    ...aggregator,
    async runRound(request, caller, roundOptions = {}) {
      const { chainId } = request
      const requestedAt = clock.monotonic()
      // The bonds and nonces of the first round after a time without demand are those of this moment (docs/decisions.md, D13).
      const waking = chains.get(chainId)?.wake()
      await waking
      const wokenMs = waking === undefined ? 0 : clock.monotonic() - requestedAt
      return new Promise((resolve) => {
        startQueue.add({
          client: identifyClient(caller.address),
          limitMs: fanOut.limitMs(caller, roundOptions.verify ?? 'off'),
          signal: caller.signal,
          start: (waitedMs) =>
            resolve(aggregator.runRound(request, caller, after(wokenMs + waitedMs, roundOptions))),
          refuse(retryMs) {
            roundMetrics.countUnstarted(request, 'overloaded')
            resolve(unstarted(roundErrors.overloaded(chainId, retryMs), quoteIds.create()))
          },
          leave() {
            roundMetrics.countUnstarted(request, 'cancelled')
            const quoteId = quoteIds.create()
            resolve(unstarted(roundErrors.noOffer(chainId, quoteId, []), quoteId))
          },
        })
      })
    },
  }
}

/** The options of a round that has waited. Its soft deadline counts from the request. */
function after(waitedMs: number, { softDeadline, ...others }: RoundOptions): RoundOptions {
  if (softDeadline === undefined) return { ...others, waitedMs }
  const afterMs = Math.max(1, softDeadline.afterMs - waitedMs)
  return { ...others, waitedMs, softDeadline: { ...softDeadline, afterMs } }
}

const NOTHING_ASKED = new RoundProgress(0, () => {}).counts
