import type { ChainConfig } from '../config.js'
import type { EventSink } from '../domain/event-sink.js'
import type { Logger } from '../telemetry/log.js'
import type { Metrics } from '../telemetry/metrics.js'
import { createBlockPoller } from './block-poller.js'
import { type ChainListener, createBlockProcessor } from './block-processor.js'
import { createBlockReader } from './block-reader.js'
import type { ChainSnapshot, ChainState } from './chain-state.js'
import type { ChainStatePublisher } from './chain-state-messages.js'
import { createHeadSync } from './head-sync.js'
import type { TimedHeader } from './headers.js'
import type { Endpoint } from './rpc-client.js'

/** The reading of one chain, for this replica and all others, from an election to its loss. */
export interface ChainSync extends ChainState {
  /**
   * Looks for the first time, then at every new head until `close`.
   * @returns once that look is done or has failed, after `timeoutMs` at the latest
   * @throws ChainConfigError when the chain answers and is not what the configuration says
   */
  start(timeoutMs: number): Promise<void>
  close(): Promise<void>
}

interface ChainSyncOptions {
  readonly config: ChainConfig
  readonly maxReorgDepth: number
  readonly eventSink: EventSink
  readonly endpoints: readonly Endpoint[]
  /** Makes sure, before anything is read, that the chain is the right one; does nothing once it has. */
  readonly verifyEndpoint: (endpoint: Endpoint) => Promise<void>
  /** Told of what happens on the chain. */
  readonly listener: ChainListener
  /** Tells the other replicas. */
  readonly publisher: ChainStatePublisher
  readonly metrics: Metrics
  readonly log: Logger
}

/** How often the view is told, changed or not. */
const PUBLISH_INTERVAL_MS = 1000

/** Builds the reading; it begins where the last reader's journal stands. */
export function createChainSync(options: ChainSyncOptions): ChainSync {
  const { config, endpoints, listener, publisher } = options
  const { chainId, settlement } = config
  const readerOf = (endpoint: Endpoint) => {
    const others = endpoints.filter((other) => other !== endpoint).map(({ client }) => client)
    return createBlockReader(endpoint.client, chainId, settlement, { others })
  }
  const readers = new Map(endpoints.map((endpoint) => [endpoint, readerOf(endpoint)]))
  let published = ''
  const blocks = createBlockProcessor({
    ...options,
    listener: {
      ...listener,
      onLogs(block) {
        listener.onLogs(block)
        if (block.events.length > 0)
          publisher.invalidateOrders(block.events.map(({ event }) => event.orderId))
      },
      onReorganisation() {
        listener.onReorganisation()
        publisher.invalidateOrders()
      },
    },
  })
  const headSync = createHeadSync({ ...options, blocks })
  const poller = createBlockPoller({
    ...config,
    ...options,
    readerAt: (endpoint) => readers.get(endpoint) ?? readerOf(endpoint),
    headSync,
    onPolled: publishChange,
  })

  function snapshot(): ChainSnapshot {
    const head = poller.head()
    const last = headSync.last()
    // Without a last block, START_BLOCK is above the head.
    const isSyncing = headSync.isBackfilling() || last === undefined
    return {
      status: !poller.isUp() ? 'down' : isSyncing ? 'syncing' : 'ok',
      head: head && withoutBloom(head),
      last: last && { number: last.number, hash: last.hash },
      published: headSync.published(),
    }
  }

  function publish(): void {
    const now = snapshot()
    published = JSON.stringify(now)
    publisher.publishSnapshot(now)
  }

  function publishChange(): void {
    if (JSON.stringify(snapshot()) !== published) publish()
  }

  // What the reader before has read and not told of, nobody reads again.
  publisher.invalidateOrders()
  const timer = setInterval(publish, PUBLISH_INTERVAL_MS)

  return {
    start: poller.start,
    snapshot,
    async poll() {
      await poller.pollNow()
      return snapshot().status === 'ok'
    },
    async close() {
      clearInterval(timer)
      await poller.close()
    },
  }
}

/** What other replicas need of a header. */
function withoutBloom({ logsBloom: _, ...header }: TimedHeader): TimedHeader {
  return header
}
