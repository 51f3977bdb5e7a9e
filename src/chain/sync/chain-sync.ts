import type { PublicClient } from 'viem'
import type { Endpoint } from '../../../packages/chain/src/rpc-endpoint.js'
import type { Clock } from '../../../packages/protocol/src/clock.js'
import type { TimedHeader } from '../../../packages/protocol/src/node/parse-blocks.js'
import type { ChainConfig } from '../../config/config.js'
import type { Logger } from '../../telemetry/log.js'
import type { Metrics } from '../../telemetry/metrics.js'
import type { BlockListener } from '../chain-listeners.js'
import type { EndpointVerifier } from '../contract/verify-endpoint.js'
import type { EventSink, TermsSink } from '../event-sink.js'
import { withEventSinkErrors } from '../event-sink-errors.js'
import { type BlockReader, createBlockReader } from '../logs/block-reader.js'
import { createBlockPoller } from './block-poller.js'
import { createBlockProcessor } from './block-processor.js'
import type { ChainSnapshot, ChainState, ChainStatePublisher } from './chain-state.js'
import { createHeadSync } from './head-sync.js'
import { createPollResults } from './poll-results.js'
import { createTermsRetry } from './terms-retry.js'

/** The leader's reading of one chain, for all replicas, from the election until the leadership is lost. */
export interface ChainSync extends ChainState {
  /**
   * Polls for the first time, then at every new head until `close`.
   * @returns after the first poll has succeeded or failed, after `timeoutMs` at the latest
   * @throws ChainConfigError when the chain answers and does not match the configuration
   */
  start(timeoutMs: number): Promise<void>
  close(): Promise<void>
}

interface ChainSyncOptions {
  readonly config: ChainConfig
  readonly maxReorgDepth: number
  readonly eventSink: EventSink & TermsSink
  /** Calls the endpoints in order until one answers. */
  readonly client: PublicClient
  readonly endpoints: readonly Endpoint[]
  readonly verifier: Pick<EndpointVerifier, 'verify' | 'forget'>
  readonly listener: BlockListener
  /** Sends the state to the other replicas. */
  readonly publisher: ChainStatePublisher
  readonly metrics: Metrics
  readonly clock: Clock
  readonly log: Logger
}

/** Time between two snapshots, also when nothing has changed. */
const PUBLISH_INTERVAL_MS = 1000

/** Builds the chain sync. It begins at the position that the last leader stored. */
export function createChainSync(options: ChainSyncOptions): ChainSync {
  const { config, client, endpoints, eventSink, publisher, log } = options
  const { chainId, settlement } = config
  const { knownSolvers } = withEventSinkErrors(eventSink, () => {})
  const readerOf = (endpoint: Endpoint) => {
    const others = endpoints.filter((other) => other !== endpoint).map(({ client }) => client)
    return createBlockReader(endpoint.client, chainId, settlement, { others, knownSolvers })
  }
  const readers = new Map(endpoints.map((endpoint) => [endpoint, readerOf(endpoint)]))
  const blocks = createBlockProcessor({ ...options, onMoved: update })
  const headSync = createHeadSync({ ...options, blocks })
  const results = createPollResults({ ...config, ...options, endpointCount: endpoints.length })
  let published = ''

  function takeSnapshot(): ChainSnapshot {
    const head = results.head()
    const last = blocks.last()
    const isUp = results.isUp()
    // Without a last block, START_BLOCK is above the head.
    const isSyncing = isUp === undefined || headSync.isBackfilling() || last === undefined
    return {
      status: isUp === false ? 'down' : isSyncing ? 'syncing' : 'ok',
      head: head && withoutBloom(head),
      last: last && { number: last.number, hash: last.hash },
      published: blocks.published(),
      unread: results.unread(),
    }
  }

  function update(): void {
    sync.snapshot = takeSnapshot()
  }

  function publish(): void {
    published = JSON.stringify(sync.snapshot)
    publisher.publishSnapshot(sync.snapshot)
  }

  const termsRetry = createTermsRetry({ chainId, settlement, client, sink: eventSink, log })
  const poller = createBlockPoller({
    ...config,
    ...options,
    readerAt: (endpoint) => readers.get(endpoint) as BlockReader,
    blocks,
    headSync,
    results,
    onProgress: update,
    onPolled() {
      update()
      if (JSON.stringify(sync.snapshot) !== published) publish()
      if (blocks.last() !== undefined) termsRetry.start()
    },
  })
  // The last leader may have read blocks without publishing it, and they are not read again.
  publisher.invalidateOrders()
  const timer = options.clock.setInterval(publish, PUBLISH_INTERVAL_MS)

  const sync: ChainSync & { snapshot: ChainSnapshot } = {
    snapshot: takeSnapshot(),
    start: (timeoutMs) => poller.start(timeoutMs).finally(update),
    async poll() {
      await poller.pollNow()
      return sync.snapshot.status === 'ok'
    },
    async close() {
      timer.stop()
      await Promise.all([poller.close(), termsRetry.close()])
    },
  }
  return sync
}

/** The fields of a header that other replicas need. */
function withoutBloom({ number, hash, parentHash, timestampMs }: TimedHeader): TimedHeader {
  return { number, hash, parentHash, timestampMs }
}
