import type { Logger } from '../telemetry/log.js'
import type { Metrics } from '../telemetry/metrics.js'
import type { BlockReader } from './block-reader.js'
import { createEndpointSelector } from './endpoint-selector.js'
import { EventSinkError } from './event-sink-error.js'
import type { HeadSync } from './head-sync.js'
import type { TimedHeader } from './headers.js'
import { InconsistentAnswerError } from './inconsistent-answer.js'
import { createPollResults } from './poll-results.js'
import type { Endpoint } from './rpc-client.js'
import { isRpcResponseError, summary } from './rpc-error.js'
import { ChainConfigError } from './verify-endpoint.js'
import { withTimeout } from './with-timeout.js'

/** Looks at a chain again and again, and has its events followed. */
export interface BlockPoller {
  /**
   * Looks for the first time, then at every new head until `close`.
   * @returns once that look is done or has failed, after `timeoutMs` at the latest
   * @throws ChainConfigError when the chain answers and is not what the configuration says
   */
  start(timeoutMs: number): Promise<void>
  /**
   * Looks once more, beginning not before this call.
   * @returns when that look is done or has failed, or has the chain's past to read
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
  /** Makes sure, before anything is read, that the chain is the right one; does nothing once it has. */
  readonly verifyEndpoint: (endpoint: Endpoint) => Promise<void>
  readonly headSync: HeadSync
  /** Called after every look, done or failed. */
  readonly onPolled: () => void
  readonly metrics: Metrics
  readonly log: Logger
}

/** How many poll intervals to wait before looking all the same while a subscription tells of new heads. */
const SUBSCRIBED_INTERVALS = 10
/** A head so far above the one that was followed is an error: no node lags that much behind another one. */
const MAX_LAG_BLOCKS = 100

/** Builds the watcher of one chain. */
export function createBlockPoller(options: BlockPollerOptions): BlockPoller {
  const { chainId, pollIntervalMs, endpoints, headSync, log } = options
  const choice = createEndpointSelector(endpoints, pollIntervalMs)
  const results = createPollResults({ ...options, endpointCount: endpoints.length })
  const closing = new AbortController()
  let head: TimedHeader | undefined
  /** Endpoints whose new heads come by themselves. */
  const subscribed = new Set<Endpoint>()
  /** A head that was told and not followed yet. */
  let pushedHead: TimedHeader | undefined
  let timer: NodeJS.Timeout | undefined
  let poll: Promise<void> | undefined
  /** Resolves when that look is done, or turns out to be long. */
  let pollOrBackfill: Promise<void> | undefined
  let onBackfill = () => {}
  /** Whether `start` is under way: it throws a mistake, which its caller reports. */
  let isStarting = false
  /** The look that begins after the one under way, for all who ask for one meanwhile. */
  let nextPoll: Promise<void> | undefined

  async function pollEndpoint(endpoint: Endpoint): Promise<void> {
    await options.verifyEndpoint(endpoint)
    const wasSubscribed = subscribed.has(endpoint)
    // Before the head is read, so that none falls in between.
    await subscribe(endpoint)
    closing.signal.throwIfAborted()
    const reader = options.readerAt(endpoint)
    const pushed = pushedHead
    pushedHead = undefined
    const seen = pushed ?? (await reader.head())
    closing.signal.throwIfAborted()
    const isNew = seen.number > (head?.number ?? -1)
    if (isNew) {
      // It should have been told of by itself: whoever was to do so has fallen silent.
      if (pushed === undefined && wasSubscribed) subscribed.delete(endpoint)
      head = seen
      choice.markHead()
    }
    const lastNumber = headSync.last()?.number ?? 0
    const run = { signal: closing.signal, onProgress: results.succeeded, onBackfill: () => onBackfill() }
    const result = await headSync.follow(reader, seen, run)
    if (result === 'behind') {
      // One that was told may be older than what was read meanwhile.
      if (pushed === undefined) choice.markFailed()
      results.wasLower(seen.number, lastNumber)
      return
    }
    results.reached()
    // A lower head is believed when blocks were given up for it; else the node has not seen yet what another one has.
    const highest = head?.number ?? 0
    const isLagging = seen.number >= lastNumber && seen.number >= highest - MAX_LAG_BLOCKS
    if (seen.number >= highest || !isLagging) head = seen
  }

  function failed(endpoint: Endpoint, error: unknown): void {
    if (closing.signal.aborted) return
    log.debug({ chainId, endpoint: choice.index() + 1, reason: summary(error) }, 'a look at the chain failed')
    results.failed(error, isStarting && error instanceof ChainConfigError)
    if (error instanceof EventSinkError) return
    if (!isRpcResponseError(error) && !(error instanceof InconsistentAnswerError)) {
      subscribed.delete(endpoint)
      endpoint.disconnect()
    }
    choice.markFailed()
  }

  async function pollOnce(): Promise<void> {
    const endpoint = choice.next(results.isTrusted())
    try {
      await pollEndpoint(endpoint)
      results.succeeded()
    } catch (error) {
      failed(endpoint, error)
      throw error
    }
  }

  /** Gives every endpoint its chance. */
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
      if (endpoint !== choice.current()) return
      pushedHead = pushed
      pollSoon()
    }
    const isSubscribed = await endpoint.subscribeToHeads(onHead, onLost)
    if (isSubscribed) return
    subscribed.delete(endpoint)
    log.debug({ chainId, endpoint: choice.index() + 1 }, 'new heads are not told by the endpoint')
  }

  function pollSoon(): void {
    if (poll !== undefined || closing.signal.aborted) return
    clearTimeout(timer)
    keepPolling(pollOnce())
  }

  /** Goes on looking after this look; what went wrong shows in the status. */
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
    const isSubscribed = subscribed.has(choice.current()) && !results.isLower()
    return isSubscribed ? pollIntervalMs * SUBSCRIBED_INTERVALS : pollIntervalMs
  }

  return {
    async start(timeoutMs) {
      isStarting = true
      const firstPoll = pollFirst()
      keepPolling(firstPoll)
      try {
        const isDone = await withTimeout(firstPoll, timeoutMs)
        if (!isDone) results.startedWithout(timeoutMs)
      } catch (error) {
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
