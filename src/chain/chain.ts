import type { ChainConfig } from '../config.js'
import { ServiceError } from '../domain/errors.js'
import type { Address, Hex } from '../domain/hex.js'
import type { Order } from '../domain/order.js'
import type { Bond } from '../domain/solver.js'
import type { QuoteHasher } from '../signing/typed-data.js'
import type { Logger } from '../telemetry/log.js'
import type { Metrics } from '../telemetry/metrics.js'
import type { Journal } from './announcer.js'
import { createBlockReader } from './block-reader.js'
import { createFollower } from './follower.js'
import { createIntroduction } from './introduce.js'
import { createOrderMemory, type ReadOrder } from './order-memory.js'
import { createRpcClient } from './rpc-client.js'
import { isNodesOwnAnswer, summary } from './rpc-error.js'
import { createSettlement } from './settlement.js'
import { createWatcher } from './watcher.js'

/** What is known of a chain; blocks are undefined until the chain has answered once. */
export interface ChainStatus {
  readonly chainId: number
  /** `syncing` while it reads events of blocks far behind the head. */
  readonly status: 'ok' | 'syncing' | 'down'
  readonly headBlock: number | undefined
  /** The last block whose events were announced. */
  readonly eventBlock: number | undefined
  /** How far the head block's time lies behind the clock. */
  readonly lagMs: number | undefined
}

/** One supported chain: its settlement contract, and the events that it emits. */
export interface Chain {
  readonly chainId: number
  /**
   * Looks at the chain for the first time, then at every new block until `close`.
   * @returns once the chain has answered or failed, after `timeoutMs` at the latest
   * @throws ChainMistake when it answers and is not what the configuration says
   */
  start(timeoutMs: number): Promise<void>
  status(): ChainStatus
  /** @throws ServiceError CHAIN_UNAVAILABLE until the contract has been read once */
  quoteHasher(): QuoteHasher
  /** @throws ServiceError CHAIN_UNAVAILABLE */
  readBond(solver: Address): Promise<Bond>
  /** Calls `listener` whenever new blocks have brought an event that changes a solver's bond, or taken one back. */
  onBondEvents(listener: () => void): void
  /**
   * An order as of the last block seen, at once and from memory where no later event can have touched it.
   * @throws ServiceError CHAIN_UNAVAILABLE
   */
  readOrder(orderId: Hex): Promise<Order> | Order
  close(): Promise<void>
}

/** What chains need beside their own configuration. */
export interface ChainOptions {
  readonly protocolName: string
  readonly maxReorgDepth: number
  readonly journal: Journal
  readonly metrics: Metrics
  readonly log: Logger
}

/** Builds a chain. One that is down is served as soon as it is there (decisions.md D11). */
export function createChain(config: ChainConfig, options: ChainOptions): Chain {
  const { chainId, settlement: address } = config
  const { protocolName, metrics, log } = options
  const rpc = createRpcClient(config.rpcUrls, (method, outcome, seconds) => {
    metrics.rpcRequests.inc({ chain_id: chainId, method, outcome })
    metrics.rpcSeconds.observe({ chain_id: chainId }, seconds)
  })
  const settlement = createSettlement(rpc.client, chainId, address)
  const orders = createOrderMemory(readLastOrder)
  const introduction = createIntroduction(config, rpc.endpoints, protocolName)
  let hasher: QuoteHasher | undefined
  let bondListener = () => {}

  const follower = createFollower({
    config,
    ...options,
    listener: {
      onNews({ events, touchesBonds }) {
        for (const { event } of events) orders.forget(event.orderId)
        if (touchesBonds) bondListener()
      },
      onReorganisation() {
        metrics.reorganisations.inc({ chain_id: chainId })
        orders.clear()
        bondListener()
      },
      onAnnounced({ header, events }) {
        const lagSeconds = Math.max(0, Date.now() - header.timestampMs) / 1000
        for (const _ of events) metrics.eventLagSeconds.observe({ chain_id: chainId }, lagSeconds)
      },
    },
  })
  const readers = new Map(
    rpc.endpoints.map((endpoint) => [endpoint, createBlockReader(endpoint.client, chainId, address)]),
  )
  const watcher = createWatcher({
    ...config,
    ...options,
    endpoints: rpc.endpoints,
    readerAt: (endpoint) => readers.get(endpoint) ?? createBlockReader(endpoint.client, chainId, address),
    async introduce(endpoint) {
      hasher = await introduction(endpoint)
    },
    follower,
  })

  /** Whether it is followed block by block. */
  function isFollowed(): boolean {
    return watcher.isUp() && !follower.isBackfilling()
  }

  /** Of a chain that is down, or whose last blocks have not been read yet, nobody can say that no event has come. */
  function isCurrent(): boolean {
    return isFollowed() && (follower.last()?.number ?? -1) >= (watcher.head()?.number ?? 0)
  }

  async function readCurrentOrder(orderId: Hex): Promise<Order> {
    // What is read is to be of the block that is the last one now.
    if (isFollowed()) await watcher.lookNow()
    return isFollowed() ? orders.get(orderId) : settlement.readOrder(orderId, {})
  }

  /** Reads as of the last block, or as of whatever the node has where it does not have that one. */
  async function readLastOrder(orderId: Hex): Promise<ReadOrder> {
    const last = follower.last()
    if (last !== undefined) {
      try {
        const order = await settlement.readOrder(orderId, { blockHash: last.hash })
        return { order, isOfLastBlock: true }
      } catch (error) {
        if (!isNodesOwnAnswer(error)) throw error
        log.debug({ chainId, reason: summary(error) }, 'an order could not be read as of the last block')
      }
    }
    return { order: await settlement.readOrder(orderId, {}), isOfLastBlock: false }
  }

  async function ask<T>(answer: Promise<T>): Promise<T> {
    try {
      return await answer
    } catch (error) {
      const cause = new Error(summary(error))
      throw new ServiceError('CHAIN_UNAVAILABLE', `Chain ${chainId} does not answer at the moment.`, {
        cause,
      })
    }
  }

  return {
    chainId,
    start: watcher.start,
    status() {
      const head = watcher.head()
      return {
        chainId,
        status: !watcher.isUp() ? 'down' : follower.isBackfilling() ? 'syncing' : 'ok',
        headBlock: head?.number,
        eventBlock: follower.announced(),
        lagMs: head && Math.max(0, Date.now() - head.timestampMs),
      }
    },
    quoteHasher() {
      if (hasher !== undefined) return hasher
      throw new ServiceError('CHAIN_UNAVAILABLE', `Chain ${chainId} has not answered yet.`)
    },
    readBond: (solver) => ask(settlement.readBond(solver)),
    onBondEvents(listener) {
      bondListener = listener
    },
    readOrder: (orderId) =>
      (isCurrent() ? orders.known(orderId) : undefined) ?? ask(readCurrentOrder(orderId)),
    async close() {
      await watcher.close()
      rpc.close()
    },
  }
}
