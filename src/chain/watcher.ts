import type { Logger } from '../telemetry/log.js'
import type { Metrics } from '../telemetry/metrics.js'
import type { BlockReader } from './block-reader.js'
import { createEndpointChoice } from './endpoint-choice.js'
import type { Follower } from './follower.js'
import type { TimedHeader } from './headers.js'
import { InconsistentAnswerError } from './inconsistent-answer.js'
import { ChainMistake } from './introduce.js'
import { JournalError } from './journal-error.js'
import { createLookResults } from './look-results.js'
import type { Endpoint } from './rpc-client.js'
import { isNodesOwnAnswer, summary } from './rpc-error.js'
import { untilTimeout } from './until-timeout.js'

/** Looks at a chain again and again, and has its events followed. */
export interface Watcher {
  /**
   * Looks for the first time, then at every new head until `close`.
   * @returns once that look is done or has failed, after `timeoutMs` at the latest
   * @throws ChainMistake when the chain answers and is not what the configuration says
   */
  start(timeoutMs: number): Promise<void>
  /**
   * Looks once more, beginning not before this call.
   * @returns when that look is done or has failed, or has the chain's past to read
   */
  lookNow(): Promise<void>
  /** Whether the chain answers and its events can be written. */
  isUp(): boolean
  /** The highest block seen. */
  head(): TimedHeader | undefined
  close(): Promise<void>
}

interface WatcherOptions {
  readonly chainId: number
  readonly pollIntervalMs: number
  readonly endpoints: readonly Endpoint[]
  readonly readerAt: (endpoint: Endpoint) => BlockReader
  /** Makes sure, before anything is read, that the chain is the right one; does nothing once it has. */
  readonly introduce: (endpoint: Endpoint) => Promise<void>
  readonly follower: Follower
  /** Called after every look, done or failed. */
  readonly onLooked: () => void
  readonly metrics: Metrics
  readonly log: Logger
}

/** How many poll intervals to wait before looking all the same while a subscription tells of new heads. */
const SUBSCRIBED_INTERVALS = 10
/** A head so far above the one that was followed is an error: no node lags that much behind another one. */
const MAX_LAG_BLOCKS = 100

/** Builds the watcher of one chain. */
export function createWatcher(options: WatcherOptions): Watcher {
  const { chainId, pollIntervalMs, endpoints, follower, log } = options
  const choice = createEndpointChoice(endpoints, pollIntervalMs)
  const results = createLookResults({ ...options, endpointCount: endpoints.length })
  const closing = new AbortController()
  let head: TimedHeader | undefined
  /** Endpoints whose new heads come by themselves. */
  const subscribed = new Set<Endpoint>()
  /** A head that was told and not followed yet. */
  let toldHead: TimedHeader | undefined
  let timer: NodeJS.Timeout | undefined
  let look: Promise<void> | undefined
  /** Resolves when that look is done, or turns out to be long. */
  let lookOrBackfill: Promise<void> | undefined
  let onBackfill = () => {}
  /** Whether `start` is under way: it throws a mistake, which its caller reports. */
  let isStarting = false
  /** The look that begins after the one under way, for all who ask for one meanwhile. */
  let nextLook: Promise<void> | undefined

  async function lookAt(endpoint: Endpoint): Promise<void> {
    await options.introduce(endpoint)
    const wasSubscribed = subscribed.has(endpoint)
    // Before the head is read, so that none falls in between.
    await subscribe(endpoint)
    closing.signal.throwIfAborted()
    const reader = options.readerAt(endpoint)
    const told = toldHead
    toldHead = undefined
    const seen = told ?? (await reader.head())
    closing.signal.throwIfAborted()
    const isNew = seen.number > (head?.number ?? -1)
    if (isNew) {
      // It should have been told of by itself: whoever was to do so has fallen silent.
      if (told === undefined && wasSubscribed) subscribed.delete(endpoint)
      head = seen
      choice.sawHead()
    }
    const lastNumber = follower.last()?.number ?? 0
    const run = { signal: closing.signal, onProgress: results.succeeded, onBackfill: () => onBackfill() }
    const result = await follower.follow(reader, seen, run)
    if (result === 'behind') {
      // One that was told may be older than what was read meanwhile.
      if (told === undefined) choice.giveUp()
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
    results.failed(error, isStarting && error instanceof ChainMistake)
    if (error instanceof JournalError) return
    if (!isNodesOwnAnswer(error) && !(error instanceof InconsistentAnswerError)) {
      subscribed.delete(endpoint)
      endpoint.disconnect()
    }
    choice.giveUp()
  }

  async function lookOnce(): Promise<void> {
    const endpoint = choice.next(results.isTrusted())
    try {
      await lookAt(endpoint)
      results.succeeded()
    } catch (error) {
      failed(endpoint, error)
      throw error
    }
  }

  /** Gives every endpoint its chance. */
  async function lookFirst(): Promise<void> {
    for (let left = endpoints.length; ; left--) {
      try {
        return await lookOnce()
      } catch (error) {
        if (error instanceof ChainMistake || left === 1) throw error
      }
    }
  }

  async function subscribe(endpoint: Endpoint): Promise<void> {
    if (endpoint.subscribeToHeads === undefined || subscribed.has(endpoint)) return
    subscribed.add(endpoint)
    const onLost = () => {
      if (subscribed.delete(endpoint)) lookSoon()
    }
    const onHead = (told: TimedHeader) => {
      if (endpoint !== choice.current()) return
      toldHead = told
      lookSoon()
    }
    const isTold = await endpoint.subscribeToHeads(onHead, onLost)
    if (isTold) return
    subscribed.delete(endpoint)
    log.debug({ chainId, endpoint: choice.index() + 1 }, 'new heads are not told by the endpoint')
  }

  function lookSoon(): void {
    if (look !== undefined || closing.signal.aborted) return
    clearTimeout(timer)
    keepLooking(lookOnce())
  }

  /** Goes on looking after this look; what went wrong shows in the status. */
  function keepLooking(thisLook: Promise<void>): void {
    look = thisLook
      .catch(() => {})
      .then(() => {
        look = undefined
        options.onLooked()
        if (closing.signal.aborted) return
        if (toldHead !== undefined) lookSoon()
        else timer = setTimeout(lookSoon, delayMs())
      })
    const backfill = new Promise<void>((resolve) => {
      onBackfill = resolve
    })
    lookOrBackfill = Promise.race([look, backfill])
  }

  function delayMs(): number {
    const backoffMs = results.backoffMs()
    if (backoffMs !== undefined) return backoffMs
    const isTold = subscribed.has(choice.current()) && !results.isLower()
    return isTold ? pollIntervalMs * SUBSCRIBED_INTERVALS : pollIntervalMs
  }

  return {
    async start(timeoutMs) {
      isStarting = true
      const firstLook = lookFirst()
      keepLooking(firstLook)
      try {
        await untilTimeout(firstLook, timeoutMs)
      } catch (error) {
        if (error instanceof ChainMistake) throw error
      } finally {
        isStarting = false
      }
    },
    lookNow() {
      nextLook ??= (async () => {
        await lookOrBackfill
        nextLook = undefined
        lookSoon()
        await lookOrBackfill
      })()
      return nextLook
    },
    isUp: results.isUp,
    head: () => head,
    async close() {
      closing.abort()
      clearTimeout(timer)
      await look
    },
  }
}
