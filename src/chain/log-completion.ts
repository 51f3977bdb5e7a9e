import { setTimeout as delay } from 'node:timers/promises'
import type { PublicClient } from 'viem'
import { createRetry } from '../concurrency/retry.js'
import { reasonOf } from '../domain/errors.js'
import type { Address, Hex } from '../domain/hex.js'
import type { CompletionSink, IncompleteOrder } from '../domain/log-completion.js'
import type { KnownOrder } from '../domain/order.js'
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
 * Rows of one page, and the pause after it. A page of SQLite holds the event loop up for some milliseconds, most of them for the
 * disk. `npm run bench -- log-completion` shows the effect on quotes.
 */
const PAGE = 10
const PAUSE_MS = 100
const LOOK_INTERVAL_MS = 2000
const RETRY_MS = 2000
/** Longest time between two attempts. A node seldom gets old logs back, and reads are often rejected for a short time. */
const MAX_RETRY_MS = { transactions: 60 * 60_000, terms: 60_000 } as const

/** Builds the completion of one chain's log. */
export function createLogCompletion(options: LogCompletionOptions): LogCompletion {
  const { chainId, client, sink, onCompleted, log } = options
  const settlement = createSettlement(client, chainId, options.settlement)
  const closing = new AbortController()
  let timer: NodeJS.Timeout | undefined
  /** The newest order without terms at the last look. Its first read does not wait for the retries of others. */
  let newest: Hex | undefined

  /** Runs pages until one returns that there is no next one. */
  async function runPages(runPage: () => Promise<boolean>): Promise<void> {
    while (await runPage()) await delay(PAUSE_MS, undefined, { signal: closing.signal })
  }

  async function addToOrders(): Promise<void> {
    let added = 0
    await runPages(async () => {
      const orderIds = await sink.addToOrders(PAGE)
      if (orderIds.length === 0) return false
      if (added === 0) log.info({ chainId }, 'the events of an older version are being added to the orders')
      added += orderIds.length
      onCompleted(orderIds)
      return orderIds.length === PAGE
    })
    if (added === 0) return
    log.info({ chainId, events: added }, 'the events of an older version have been added to the orders')
    transactions.run()
  }

  async function completeEvents(): Promise<void> {
    let [before, completed, left] = [Number.MAX_SAFE_INTEGER, 0, 0]
    await runPages(async () => {
      const events = await sink.eventsWithoutTransaction(before, PAGE)
      const found = await readTransactions({ client, chainId, address: options.settlement }, events)
      if (found.length > 0) {
        await sink.completeEvents(found)
        onCompleted(events.map(({ orderId }) => orderId))
      }
      completed += found.length
      left += events.length - found.length
      before = events.at(-1)?.sequence ?? before
      return events.length === PAGE
    })
    if (completed > 0) log.info({ chainId, events: completed }, 'transactions of older events have been read')
    if (left > 0) throw new Error(`the node does not have the transactions of ${left} events`)
  }

  async function completeOrders(): Promise<void> {
    let [after, left]: [IncompleteOrder | undefined, number] = [undefined, 0]
    await runPages(async () => {
      const orders = await sink.ordersWithoutTerms(after, PAGE)
      const known = (await Promise.all(orders.map(readOrder))).filter((order) => order !== undefined)
      left += orders.length - (known.length > 0 ? await sink.completeOrders(known) : 0)
      after = orders.at(-1)
      return orders.length === PAGE
    })
    if (left > 0) throw new Error(`the node does not have ${left} orders`)
  }

  async function readOrder({ orderId }: IncompleteOrder): Promise<KnownOrder | undefined> {
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

  function retry(work: () => Promise<void>, task: keyof typeof MAX_RETRY_MS) {
    const onFailure = (error: unknown) =>
      log.debug(
        { chainId, task, reason: reasonOf(error) },
        'the log could not be completed: it is tried again',
      )
    return createRetry({ work, delayMs: RETRY_MS, maxDelayMs: MAX_RETRY_MS[task], onFailure })
  }

  const looking = retry(look, 'terms')
  const transactions = retry(completeEvents, 'transactions')
  const terms = retry(completeOrders, 'terms')

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
