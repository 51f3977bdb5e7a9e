import type { ChainConfig } from '../config.js'
import type { Logger } from '../telemetry/log.js'
import type { Metrics } from '../telemetry/metrics.js'
import type { Journal } from './announcer.js'
import { type ChainListener, createBlockProcessor } from './block-processor.js'
import { createBlockReader } from './block-reader.js'
import type { ChainNews } from './chain-news.js'
import type { ChainEye, ChainView } from './chain-view.js'
import { createFollower } from './follower.js'
import type { TimedHeader } from './headers.js'
import type { Endpoint } from './rpc-client.js'
import { createWatcher } from './watcher.js'

/** The reading of one chain, for this replica and all others, from an election to its loss. */
export interface Reading extends ChainEye {
  /**
   * Looks for the first time, then at every new head until `close`.
   * @returns once that look is done or has failed, after `timeoutMs` at the latest
   * @throws ChainMistake when the chain answers and is not what the configuration says
   */
  start(timeoutMs: number): Promise<void>
  close(): Promise<void>
}

interface ReadingOptions {
  readonly config: ChainConfig
  readonly maxReorgDepth: number
  readonly journal: Journal
  readonly endpoints: readonly Endpoint[]
  /** Makes sure, before anything is read, that the chain is the right one; does nothing once it has. */
  readonly introduce: (endpoint: Endpoint) => Promise<void>
  /** Told of what happens on the chain. */
  readonly listener: ChainListener
  /** Tells the other replicas. */
  readonly news: ChainNews
  readonly metrics: Metrics
  readonly log: Logger
}

/** How often the view is told, changed or not. */
const TELL_INTERVAL_MS = 1000

/** Builds the reading; it begins where the last reader's journal stands. */
export function createReading(options: ReadingOptions): Reading {
  const { config, endpoints, listener, news } = options
  const { chainId, settlement } = config
  const readerOf = (endpoint: Endpoint) => {
    const others = endpoints.filter((other) => other !== endpoint).map(({ client }) => client)
    return createBlockReader(endpoint.client, chainId, settlement, { others })
  }
  const readers = new Map(endpoints.map((endpoint) => [endpoint, readerOf(endpoint)]))
  let told = ''
  const blocks = createBlockProcessor({
    ...options,
    listener: {
      ...listener,
      onNews(block) {
        listener.onNews(block)
        if (block.events.length > 0) news.tellTouched(block.events.map(({ event }) => event.orderId))
      },
      onReorganisation() {
        listener.onReorganisation()
        news.tellTouched()
      },
    },
  })
  const follower = createFollower({ ...options, blocks })
  const watcher = createWatcher({
    ...config,
    ...options,
    readerAt: (endpoint) => readers.get(endpoint) ?? readerOf(endpoint),
    follower,
    onLooked: tellChange,
  })

  function view(): ChainView {
    const head = watcher.head()
    const last = follower.last()
    return {
      status: !watcher.isUp() ? 'down' : follower.isBackfilling() ? 'syncing' : 'ok',
      head: head && withoutBloom(head),
      last: last && { number: last.number, hash: last.hash },
      announced: follower.announced(),
    }
  }

  function tell(): void {
    const now = view()
    told = JSON.stringify(now)
    news.tellView(now)
  }

  function tellChange(): void {
    if (JSON.stringify(view()) !== told) tell()
  }

  // What the reader before has read and not told of, nobody reads again.
  news.tellTouched()
  const timer = setInterval(tell, TELL_INTERVAL_MS)

  return {
    start: watcher.start,
    view,
    async look() {
      await watcher.lookNow()
      return view().status === 'ok'
    },
    async close() {
      clearInterval(timer)
      await watcher.close()
    },
  }
}

/** What other replicas need of a header. */
function withoutBloom({ logsBloom: _, ...header }: TimedHeader): TimedHeader {
  return header
}
