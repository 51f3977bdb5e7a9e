import { reasonOf } from '../../../packages/protocol/src/errors.js'
import { readView } from '../../../packages/protocol/src/node/read-view.js'
import type { KnownOrder, OrderPosition } from '../../../packages/protocol/src/orders/order.js'
import { settlementOf } from '../../../packages/protocol/src/settlement/settlement-of-chain.js'
import type { ChainSyncContext } from './context.js'

/** Rows of one page, and the pause after it. SQLite runs in the event loop, so a page stops it for some milliseconds. */
const PAGE_ROWS = 10
const PAUSE_MS = 100
/** An attempt ends after so many pages in a row without any answer. */
const MAX_EMPTY_PAGES = 10
const LOOK_INTERVAL_MS = 2000
/** Longest pause after attempts that have failed. Nodes often reject reads for a short time. */
const MAX_PAUSE_MS = 60_000

/**
 * Builds what reads the terms of a chain's orders that the contract did not give when their events were published (see attach-orders.ts).
 * Each row of the orders tells whether it lacks them. So any replica can continue after an interruption.
 */
export function createTermsRetry({ config, rpc, eventSink, clock, log }: ChainSyncContext) {
  const { chainId, settlement } = config
  const closing = new AbortController()
  const { signal } = closing
  let running: Promise<void> | undefined

  /** Reads pages up to the last one, or until some in a row have completed no order. */
  async function completeOrders(): Promise<void> {
    let [after, left, empty]: [OrderPosition | undefined, number, number] = [undefined, 0, 0]
    while (empty < MAX_EMPTY_PAGES) {
      const orders = await eventSink.ordersWithoutTerms(after, PAGE_ROWS)
      const known = (await Promise.all(orders.map(readOrder))).filter((order) => order !== undefined)
      const completed = known.length > 0 ? await eventSink.completeOrders(known) : 0
      left += orders.length - completed
      if (orders.length < PAGE_ROWS) break
      after = orders.at(-1)
      empty = completed > 0 ? 0 : empty + 1
      await clock.sleep(PAUSE_MS, signal)
    }
    if (left > 0) throw new Error(`the terms of ${left} orders could not be read`)
  }

  async function readOrder({ orderId }: OrderPosition): Promise<KnownOrder | undefined> {
    const order = await readView(
      rpc.client.request,
      settlement,
      settlementOf(chainId).order(chainId, orderId),
    ).catch(() => undefined)
    return order === undefined || order.state === 'NONE' ? undefined : order
  }

  async function run(): Promise<void> {
    for (let pauseMs = LOOK_INTERVAL_MS; !signal.aborted; ) {
      try {
        await completeOrders()
        pauseMs = LOOK_INTERVAL_MS
      } catch (error) {
        log.debug(
          { chainId, reason: reasonOf(error) },
          'the terms of orders could not be read: it is tried again',
        )
        pauseMs = Math.min(pauseMs * 2, MAX_PAUSE_MS)
      }
      await clock.sleep(pauseMs, signal).catch(() => {})
    }
  }

  return {
    /** Begins at the first call. The chain's sync must have opened its position. */
    start(): void {
      running ??= run()
    },
    /** @returns after a page under way */
    async close(): Promise<void> {
      closing.abort()
      await running
    },
  }
}
