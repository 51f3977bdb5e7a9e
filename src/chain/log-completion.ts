import { setTimeout as delay } from 'node:timers/promises'
import type { PublicClient } from 'viem'
import { createRetry } from '../concurrency/retry.js'
import { reasonOf } from '../domain/errors.js'
import type { Address, Hex } from '../domain/hex.js'
import type { CompletionSink } from '../domain/log-completion.js'
import type { KnownOrder, OrderPosition } from '../domain/order.js'
import type { Logger } from '../telemetry/log.js'
import { readTransactions } from './read-transactions.js'
import { createSettlement } from './settlement.js'

/**
 * Completes the log of one chain in the background: the events of an older version, which are not in the table of orders
 * and have no transactions and times, and orders whose terms could not be read.
 *
 * Each row of the log tells what it lacks. So the completion continues after each interruption where it was, on any
 * replica. It works in small pages with pauses, because SQLite and the JSON of nodes take time of the event loop.
 */
export interface LogCompletion {
  /** Begins at the first call. The chain's sync must have opened its position. */
  start(): void
  /** @returns after a page under way */
  close(): Promise<void>
}

interface LogCompletionOptions {
  readonly chainId: number
  /** The contract, lower case. */
  readonly settlement: Address
  /** A client of the chain's endpoints. */
  readonly client: PublicClient
  readonly sink: CompletionSink
  /** Called after events were added to these orders, or got their transactions and times. */
  readonly onCompleted: (orderIds: readonly Hex[]) => void
  readonly log: Logger
}

/**
 * Rows of one page, and the pause after it. SQLite runs in the event loop, so a page stops it for some milliseconds, most of them
 * for the disk. `npm run bench -- log-completion` shows the effect on quotes.
 */
const PAGE_ROWS = 10
const PAUSE_MS = 100
/** An attempt ends after so many pages in a row without any answer: a node without the newer logs does not have older ones. */
const MAX_EMPTY_PAGES = 10
const LOOK_INTERVAL_MS = 2000
const RETRY_MS = 2000
/** Longest time between two attempts, by task. A node seldom gets old logs back, and reads are often rejected for a short time. */
const MAX_RETRY_MS = { transactions: 60 * 60_000, terms: 60_000 } as const
const NOT_COMPLETED = 'the log could not be completed: it is tried again'

/** Builds the completion of one chain's log. */
export function createLogCompletion(options: LogCompletionOptions): LogCompletion {
  const { chainId, client, sink, onCompleted, log } = options
  const settlement = createSettlement(client, chainId, options.settlement)
  const closing = new AbortController()
  let timer: NodeJS.Timeout | undefined
  /** The newest order without terms at the last look. A new one is read at once, or after the attempt under way. */
  let newest: Hex | undefined

  /** Runs pages up to the last one, or until some in a row have completed nothing. */
  async function runPages(
    runPage: () => Promise<{ readonly isLast: boolean; readonly completed: number }>,
  ): Promise<void> {
    for (let empty = 0; empty < MAX_EMPTY_PAGES; ) {
      const { isLast, completed } = await runPage()
      if (isLast) return
      empty = completed > 0 ? 0 : empty + 1
      await delay(PAUSE_MS, undefined, { signal: closing.signal })
    }
  }

  async function addToOrders(): Promise<void> {
    let [pages, events] = [0, 0]
    await runPages(async () => {
      const { orderIds, added } = await sink.addToOrders(PAGE_ROWS)
      if (orderIds.length === 0) return { isLast: true, completed: 0 }
      if (pages++ === 0) log.info({ chainId }, 'the events of an older version are being added to the orders')
      events += added
      onCompleted(orderIds)
      return { isLast: false, completed: orderIds.length }
    })
    if (pages === 0) return
    log.info({ chainId, events }, 'the events of an older version have been added to the orders')
    transactions.run()
  }

  async function completeEvents(): Promise<void> {
    let [before, completed, left] = [Number.MAX_SAFE_INTEGER, 0, 0]
    await runPages(async () => {
      const events = await sink.eventsWithoutTransaction(before, PAGE_ROWS)
      const found = await readTransactions({ client, chainId, address: options.settlement }, events)
      if (found.length > 0) {
        await sink.completeEvents(found)
        onCompleted(events.map(({ orderId }) => orderId))
      }
      completed += found.length
      left += events.length - found.length
      before = events.at(-1)?.sequence ?? before
      return { isLast: events.length < PAGE_ROWS, completed: found.length }
    })
    if (completed > 0) log.info({ chainId, events: completed }, 'transactions of older events have been read')
    if (left > 0) throw new Error(`the transactions of ${left} events could not be read`)
  }

  async function completeOrders(): Promise<void> {
    let [after, left]: [OrderPosition | undefined, number] = [undefined, 0]
    await runPages(async () => {
      const orders = await sink.ordersWithoutTerms(after, PAGE_ROWS)
      const known = (await Promise.all(orders.map(readOrder))).filter((order) => order !== undefined)
      const completed = known.length > 0 ? await sink.completeOrders(known) : 0
      left += orders.length - completed
      after = orders.at(-1)
      return { isLast: orders.length < PAGE_ROWS, completed }
    })
    if (left > 0) throw new Error(`the terms of ${left} orders could not be read`)
  }

  async function readOrder({ orderId }: OrderPosition): Promise<KnownOrder | undefined> {
    const order = await settlement.readOrder(orderId, {}).catch(() => undefined)
    return order === undefined || order.state === 'NONE' ? undefined : order
  }

  async function look(): Promise<void> {
    await addToOrders()
    const [order] = await sink.ordersWithoutTerms(undefined, 1)
    const isNew = order !== undefined && order.orderId !== newest
    newest = order?.orderId
    if (isNew) terms.run()
  }

  function retryReads(work: () => Promise<void>, task: keyof typeof MAX_RETRY_MS) {
    const onFailure = (error: unknown) => log.debug({ chainId, task, reason: reasonOf(error) }, NOT_COMPLETED)
    return createRetry({ work, delayMs: RETRY_MS, maxDelayMs: MAX_RETRY_MS[task], onFailure })
  }

  const looking = createRetry({
    work: look,
    delayMs: LOOK_INTERVAL_MS,
    onFailure: (error) => log.warn({ chainId, task: 'orders', reason: reasonOf(error) }, NOT_COMPLETED),
  })
  const transactions = retryReads(completeEvents, 'transactions')
  const terms = retryReads(completeOrders, 'terms')

  return {
    start() {
      if (timer !== undefined) return
      timer = setInterval(looking.run, LOOK_INTERVAL_MS)
      looking.run()
      transactions.run()
    },
    async close() {
      clearInterval(timer)
      closing.abort()
      await Promise.all([looking.close(), transactions.close(), terms.close()])
    },
  }
}
