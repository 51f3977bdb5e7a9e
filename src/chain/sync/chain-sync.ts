import type { TimedHeader } from '../../../packages/protocol/src/node/parse-blocks.js'
import { createBlockPoller } from './block-poller.js'
import { createBlockProcessor } from './block-processor.js'
import type { ChainSnapshot } from './chain-state.js'
import type { ChainSyncContext } from './context.js'
import { createHeadSync } from './head-sync.js'
import { createPollResults } from './poll-results.js'
import { createTermsRetry } from './terms-retry.js'

/** The leader's reading of one chain, for all replicas, from the election until the leadership is lost. */
export type ChainSync = Readonly<ReturnType<typeof createChainSync>>

/** Time between two snapshots, also when nothing has changed. */
const PUBLISH_INTERVAL_MS = 1000

/** Builds the chain sync. It begins at the position that the last leader stored. */
export function createChainSync(context: ChainSyncContext) {
  const { publisher, clock } = context
  const blocks = createBlockProcessor(context, update)
  const headSync = createHeadSync(context, blocks)
  const results = createPollResults(context)
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

  function onPolled(): void {
    update()
    if (JSON.stringify(sync.snapshot) !== published) publish()
    if (blocks.last() !== undefined) termsRetry.start()
  }

  const termsRetry = createTermsRetry(context)
  const poller = createBlockPoller(context, { blocks, headSync, results, onProgress: update, onPolled })
  // The last leader may have read blocks without publishing it, and they are not read again.
  publisher.invalidateOrders()
  const timer = clock.setInterval(publish, PUBLISH_INTERVAL_MS)

  const sync = {
    snapshot: takeSnapshot(),
    /**
     * Polls for the first time, then at every new head until `close`.
     * @returns after the first poll has succeeded or failed, after `timeoutMs` at the latest
     * @throws ChainConfigError when the chain answers and does not match the configuration
     */
    start: (timeoutMs: number): Promise<void> => poller.start(timeoutMs).finally(update),
    async poll(): Promise<boolean> {
      await poller.pollNow()
      return sync.snapshot.status === 'ok'
    },
    async close(): Promise<void> {
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
