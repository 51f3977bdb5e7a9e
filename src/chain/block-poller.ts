import { TimeoutError, withTimeout } from '../concurrency/with-timeout.js'
import type { Logger } from '../telemetry/log.js'
import type { Metrics } from '../telemetry/metrics.js'
import type { BlockReader } from './block-reader.js'
import { ChainConfigError } from './chain-config-error.js'
import { createEndpointSelector } from './endpoint-selector.js'
import { EventSinkError } from './event-sink-error.js'
import type { HeadSync } from './head-sync.js'
import type { TimedHeader } from './headers.js'
import { InconsistentAnswerError } from './inconsistent-answer.js'
import { createPollResults } from './poll-results.js'
import type { Endpoint } from './rpc-client.js'
import { isRpcResponseError, summary } from './rpc-error.js'

/** Polls a chain and passes each new head to the head sync. */
export interface BlockPoller {
  /**
   * Polls for the first time, then at every new head until `close`.
   * @returns after the first poll has succeeded or failed, after `timeoutMs` at the latest
   * @throws ChainConfigError when the chain answers and does not match the configuration
   */
  start(timeoutMs: number): Promise<void>
  /**
   * Polls once more. The poll starts after this call.
   * @returns after the poll has succeeded or failed, or has begun a backfill
   */
  pollNow(): Promise<void>
  /** Whether the chain answers and its events can be written. */
  isUp(): boolean
  /** The highest block seen. */
  head(): TimedHeader | undefined
  close(): Promise<void>
}

interface BlockPollerOptions {
  readonly chainId: number
  readonly pollIntervalMs: number
  readonly endpoints: readonly Endpoint[]
  readonly readerAt: (endpoint: Endpoint) => BlockReader
  /** Verifies an endpoint before the first read from it. Later calls do nothing. */
  readonly verifyEndpoint: (endpoint: Endpoint) => Promise<void>
  readonly headSync: HeadSync
  /** Called after every poll, successful or not. */
  readonly onPolled: () => void
  readonly metrics: Metrics
  readonly log: Logger
}

/** Poll intervals between polls while a subscription pushes new heads. */
const SUBSCRIBED_INTERVALS = 10
/** A head that is this many blocks above the last followed one is wrong: no node lags so much. */
const MAX_LAG_BLOCKS = 100

/** Builds the poller of one chain. */
export function createBlockPoller(options: BlockPollerOptions): BlockPoller {
  const { chainId, pollIntervalMs, endpoints, headSync, log } = options
  const selector = createEndpointSelector(endpoints, pollIntervalMs)
  const results = createPollResults({ ...options, endpointCount: endpoints.length })
  const closing = new AbortController()
  let head: TimedHeader | undefined
  /** Endpoints that push new heads. */
  const subscribed = new Set<Endpoint>()
  /** A pushed head that has not been followed yet. */
  let pushedHead: TimedHeader | undefined
  let timer: NodeJS.Timeout | undefined
  let poll: Promise<void> | undefined
  /** Resolves when the poll has ended or has begun a backfill. */
  let pollOrBackfill: Promise<void> | undefined
  let onBackfill = () => {}
  /** Whether `start` is under way. Its caller reports the configuration error that it throws. */
  let isStarting = false
  /** The poll after the current one. All calls of `pollNow` in the meantime share it. */
  let nextPoll: Promise<void> | undefined

  async function pollEndpoint(endpoint: Endpoint): Promise<void> {
    await options.verifyEndpoint(endpoint)
    const wasSubscribed = subscribed.has(endpoint)
    // Before the head is read, so that no head is missed between the two.
    await subscribe(endpoint)
    closing.signal.throwIfAborted()
    const reader = options.readerAt(endpoint)
    const pushed = pushedHead
    pushedHead = undefined
    const seen = pushed ?? (await reader.head())
    closing.signal.throwIfAborted()
    const isNew = seen.number > (head?.number ?? -1)
    if (isNew) {
      // The subscription did not push this head, so it has ended.
      if (pushed === undefined && wasSubscribed) subscribed.delete(endpoint)
      head = seen
      selector.markHead()
    }
    const lastNumber = headSync.last()?.number ?? 0
    const run = { signal: closing.signal, onProgress: results.succeeded, onBackfill: () => onBackfill() }
    const result = await headSync.follow(reader, seen, run)
    if (result === 'lower') {
      // A pushed head may be older than blocks that were read in the meantime.
      if (pushed === undefined) selector.markFailed()
      results.wasLower(seen.number, lastNumber)
      return
    }
    results.reached()
    // A lower head counts after a rollback to it. Otherwise this node lags and has not seen a block that another one has.
    const highest = head?.number ?? 0
    const isLagging = seen.number >= lastNumber && seen.number >= highest - MAX_LAG_BLOCKS
    if (seen.number >= highest || !isLagging) head = seen
  }

  function failed(endpoint: Endpoint, error: unknown): void {
    if (closing.signal.aborted) return
    log.debug(
      { chainId, endpoint: selector.index() + 1, reason: summary(error) },
      'a poll of the chain failed',
    )
    results.failed(error, isStarting && error instanceof ChainConfigError)
    if (error instanceof EventSinkError) return
    if (!isRpcResponseError(error) && !(error instanceof InconsistentAnswerError)) {
      subscribed.delete(endpoint)
      endpoint.disconnect()
    }
    selector.markFailed()
  }

  async function pollOnce(): Promise<void> {
    const endpoint = selector.next(results.isTrusted())
    try {
      await pollEndpoint(endpoint)
      results.succeeded()
    } catch (error) {
      failed(endpoint, error)
      throw error
    }
  }

  /** Tries every endpoint once. */
  async function pollFirst(): Promise<void> {
    for (let left = endpoints.length; ; left--) {
      try {
        return await pollOnce()
      } catch (error) {
        if (error instanceof ChainConfigError || left === 1) throw error
      }
    }
  }

  async function subscribe(endpoint: Endpoint): Promise<void> {
    if (endpoint.subscribeToHeads === undefined || subscribed.has(endpoint)) return
    subscribed.add(endpoint)
    const onLost = () => {
      if (subscribed.delete(endpoint)) pollSoon()
    }
    const onHead = (pushed: TimedHeader) => {
      if (endpoint !== selector.current()) return
      pushedHead = pushed
      pollSoon()
    }
    const isSubscribed = await endpoint.subscribeToHeads(onHead, onLost)
    if (isSubscribed) return
    subscribed.delete(endpoint)
    log.debug({ chainId, endpoint: selector.index() + 1 }, 'the endpoint does not push new heads')
  }

  function pollSoon(): void {
    if (poll !== undefined || closing.signal.aborted) return
    clearTimeout(timer)
    keepPolling(pollOnce())
  }

  /** Schedules the next poll after this one. `results` has the failure of this one. */
  function keepPolling(thisPoll: Promise<void>): void {
    poll = thisPoll
      .catch(() => {})
      .then(() => {
        poll = undefined
        options.onPolled()
        if (closing.signal.aborted) return
        if (pushedHead !== undefined) pollSoon()
        else timer = setTimeout(pollSoon, delayMs())
      })
    const backfill = new Promise<void>((resolve) => {
      onBackfill = resolve
    })
    pollOrBackfill = Promise.race([poll, backfill])
  }

  function delayMs(): number {
    const backoffMs = results.backoffMs()
    if (backoffMs !== undefined) return backoffMs
    const isSubscribed = subscribed.has(selector.current()) && !results.isLower()
    return isSubscribed ? pollIntervalMs * SUBSCRIBED_INTERVALS : pollIntervalMs
  }

  return {
    async start(timeoutMs) {
      isStarting = true
      const firstPoll = pollFirst()
      keepPolling(firstPoll)
      try {
        await withTimeout(firstPoll, timeoutMs)
      } catch (error) {
        if (error instanceof TimeoutError) results.startedWithout(timeoutMs)
        if (error instanceof ChainConfigError) throw error
      } finally {
        isStarting = false
      }
    },
    pollNow() {
      nextPoll ??= (async () => {
        await pollOrBackfill
        nextPoll = undefined
        pollSoon()
        await pollOrBackfill
      })()
      return nextPoll
    },
    isUp: results.isUp,
    head: () => head,
    async close() {
      closing.abort()
      clearTimeout(timer)
      await poll
    },
  }
}
