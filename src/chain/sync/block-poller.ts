import { ChainConfigError } from '../../../packages/chain/src/contract/chain-config-error.js'
import { createEndpointOrder } from '../../../packages/chain/src/rpc-client.js'
import { type Endpoint, troubleOf } from '../../../packages/chain/src/rpc-endpoint.js'
import { isNodeAnswer } from '../../../packages/protocol/src/node/node-answer.js'
import { wordsOf } from '../../../packages/protocol/src/node/node-words.js'
import { InconsistentAnswerError } from '../../../packages/protocol/src/node/parse-blocks.js'
import { TimeoutError, withTimeout } from '../../concurrency/time-limits.js'
import { EventSinkError } from '../event-sink.js'
import { type BlockReader, createBlockReader } from '../logs/block-reader.js'
import type { BlockProcessor } from './block-processor.js'
import type { ChainSyncContext } from './context.js'
import { createHeadSubscriptions } from './head-subscriptions.js'
import type { HeadSync } from './head-sync.js'
import type { PollResults } from './poll-results.js'
import { createPollSchedule, type PollRun } from './poll-schedule.js'

/** The parts of a sync that its polls move. */
interface PolledParts {
  readonly blocks: BlockProcessor
  readonly headSync: HeadSync
  /** Takes the result of every poll. */
  readonly results: PollResults
  /** Called when a poll has seen a head, has published confirmed events, or begins a backfill. */
  readonly onProgress: () => void
  /** Called after every poll, successful or not. */
  readonly onPolled: () => void
}

/** Poll intervals between polls while a subscription pushes new heads. */
const SUBSCRIBED_INTERVALS = 10

/**
 * Builds the poller of one chain, which passes each new head to the head sync. This file is what one poll does; poll-schedule.ts is when
 * polls run.
 */
export function createBlockPoller(context: ChainSyncContext, parts: PolledParts) {
  const { verifier, clock, log } = context
  const { endpoints } = context.rpc
  const { chainId, pollIntervalMs } = context.config
  const { blocks, headSync, results, onProgress, onPolled } = parts
  const readers = createReaders(context)
  const order = createEndpointOrder(endpoints, clock.monotonic, troubleOf)
  let polled = endpoints[0] as Endpoint
  const subscriptions = createHeadSubscriptions(() => polled, verifier.forget)
  /** Whether `start` is under way. Its caller reports the configuration error that it throws. */
  let isStarting = false
  /** Whether the poll has read a head, and reads the blocks up to it. */
  let isFollowing = false

  const pollOnce = (run: PollRun) => poll(order.endpointsToVerify()[0] as Endpoint, run)

  async function poll(endpoint: Endpoint, run: PollRun): Promise<void> {
    polled = endpoint
    isFollowing = false
    try {
      await followHeadOf(endpoint, run)
      results.succeeded()
    } catch (error) {
      if (!run.signal.aborted) failed(endpoint, error)
      throw error
    }
  }

  async function followHeadOf(endpoint: Endpoint, run: PollRun): Promise<void> {
    await verifier.verify(endpoint)
    const wasSubscribed = subscriptions.has(endpoint)
    // Before the head is read, so that no head is missed between the two.
    await subscriptions.subscribe(endpoint, run.pollSoon)
    run.signal.throwIfAborted()
    const reader = readers.get(endpoint) as BlockReader
    const pushed = subscriptions.takeHead()
    const seen = await reader.head(pushed)
    run.signal.throwIfAborted()
    if (results.sawHead(seen)) {
      // The subscription did not push this head, so it has ended.
      if (pushed === undefined && wasSubscribed) subscriptions.remove(endpoint)
      onProgress()
    }
    isFollowing = true
    const lastNumber = blocks.last()?.number ?? 0
    const result = await headSync.follow(reader, seen, {
      signal: run.signal,
      onProgress() {
        results.succeeded()
        onProgress()
      },
      onBackfill() {
        onProgress()
        run.onBackfill()
      },
    })
    isFollowing = false
    if (result === 'followed') return results.followed(seen, lastNumber)
    // A pushed head may be older than blocks that were read in the meantime.
    if (pushed === undefined) order.markFailed(endpoint)
    verifier.forget(endpoint)
    results.wasLower(seen, lastNumber)
  }

  function failed(endpoint: Endpoint, error: unknown): void {
    const { host } = endpoint
    log.debug({ chainId, endpoint: host, reason: wordsOf(error) }, 'a poll of the chain failed')
    const last = blocks.last()
    const place = { block: isFollowing && last ? last.number + 1 : undefined, endpoint: host }
    results.failed(error, place, isStarting && error instanceof ChainConfigError)
    if (error instanceof EventSinkError) return
    verifier.forget(endpoint, error)
    if (!isNodeAnswer(error) && !(error instanceof InconsistentAnswerError)) {
      subscriptions.remove(endpoint)
      endpoint.disconnect()
    }
    order.markFailed(endpoint)
  }

  /** Tries every endpoint once. */
  const pollFirst = (run: PollRun) =>
    order.inOrder(
      (endpoint) => poll(endpoint, run),
      (error) => {
        if (error instanceof ChainConfigError) throw error
      },
      order.endpointsToVerify(),
    )

  function pauseMs(): number | undefined {
    // Also for a pushed head: the poll of it may fail again at once.
    const backoffMs = results.backoffMs()
    if (backoffMs !== undefined) return backoffMs
    if (subscriptions.hasHead()) return undefined
    const isPushed = subscriptions.isPushing(polled) && !results.isLower()
    return isPushed ? pollIntervalMs * SUBSCRIBED_INTERVALS : pollIntervalMs
  }

  const schedule = createPollSchedule({ poll: pollOnce, onPolled, pauseMs, clock })

  return {
    /**
     * Polls for the first time, then at every new head until `close`.
     * @returns after the first poll has succeeded or failed, after `timeoutMs` at the latest
     * @throws ChainConfigError when the chain answers and does not match the configuration
     */
    async start(timeoutMs: number): Promise<void> {
      isStarting = true
      try {
        await withTimeout(schedule.start(pollFirst), timeoutMs, clock)
      } catch (error) {
        if (error instanceof TimeoutError) results.startedWithout(timeoutMs)
        if (error instanceof ChainConfigError) throw error
      } finally {
        isStarting = false
      }
    },
    /**
     * Polls once more. The poll starts after this call.
     * @returns after the poll has succeeded or failed, or has begun a backfill
     */
    pollNow: schedule.pollNow,
    close: schedule.close,
  }
}

/** A reader of blocks at each endpoint, which compares them with the others. */
function createReaders({
  config,
  rpc,
  eventSink,
  clock,
}: ChainSyncContext): ReadonlyMap<Endpoint, BlockReader> {
  const { knownSolvers } = eventSink
  const readerAt = (endpoint: Endpoint) => {
    const others = rpc.endpoints.filter((other) => other !== endpoint).map(({ client }) => client)
    return createBlockReader(endpoint.client, config, { others, clock, knownSolvers })
  }
  return new Map(rpc.endpoints.map((endpoint) => [endpoint, readerAt(endpoint)]))
}
