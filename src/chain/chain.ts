import type { ChainConfig } from '../config.js'
import { ServiceError } from '../domain/errors.js'
import type { Address, Hex } from '../domain/hex.js'
import type { Order } from '../domain/order.js'
import type { Replicas } from '../domain/replicas.js'
import type { SettlementTerms } from '../domain/settlement-terms.js'
import type { Bond } from '../domain/solver.js'
import type { QuoteHasher } from '../signing/typed-data.js'
import type { Logger } from '../telemetry/log.js'
import type { Metrics } from '../telemetry/metrics.js'
import type { Journal } from './announcer.js'
import type { ChainListener } from './block-processor.js'
import { createChainNews, listenToChainNews } from './chain-news.js'
import type { ChainEye, ChainView } from './chain-view.js'
import { ChainMistake, createIntroduction, type KnownContract } from './introduce.js'
import type { ContractNews, SolverNonce } from './order-events.js'
import { createOrderReader } from './order-reader.js'
import { createReadersOffice } from './readers-office.js'
import { createReading } from './reading.js'
import { createRpcClient, type Endpoint } from './rpc-client.js'
import { summary } from './rpc-error.js'
import { type BlockChoice, createSettlement } from './settlement.js'
import { createToldView } from './told-view.js'

/** What is known of a chain; blocks are undefined until the chain has answered once. */
export interface ChainStatus {
  readonly chainId: number
  readonly status: ChainView['status']
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
  /** What the contract demands of every order; read once. @throws ServiceError CHAIN_UNAVAILABLE until then */
  terms(): SettlementTerms
  /** A bond as of the last block seen, or a later one. @throws ServiceError CHAIN_UNAVAILABLE */
  readBond(solver: Address): Promise<Bond>
  /** Whether a nonce has been used as of the last block seen, or a later one. @throws ServiceError CHAIN_UNAVAILABLE */
  isNonceUsed(solver: Address, nonce: bigint): Promise<boolean>
  /** Hash of the last block whose events have been read; undefined when it is not known. */
  lastBlockHash(): Hex | undefined
  /**
   * Whether a nonce was used as of a block that `lastBlockHash` returned (EIP-1898).
   * @returns undefined when the node does not answer for that block
   */
  wasNonceUsed(solver: Address, nonce: bigint, blockHash: Hex): Promise<boolean | undefined>
  /** Whether this replica is the one that reads it, for all of them. */
  isReadHere(): boolean
  /**
   * Calls `listener` after new blocks with events of solvers' bonds or orders, and when a reorganisation has removed
   * blocks: of a chain that is read here, and when the reading has begun or ended.
   */
  onBondEvents(listener: BondListener): void
  /** Reports cancelled nonces, of a chain that is read here. */
  onNonceEvents(listener: NonceListener): void
  /**
   * An order as of the last block seen, at once and from memory where no later event can have touched it.
   * @throws ServiceError CHAIN_UNAVAILABLE
   */
  readOrder(orderId: Hex): Promise<Order> | Order
  /** Takes note that an event of an order has been announced, by whichever replica. */
  forgetOrder(orderId: Hex): void
  close(): Promise<void>
}

/** Takes the solvers whose free bond may have changed, in lower case; undefined stands for all. */
export type BondListener = (solvers: ReadonlySet<Address> | undefined) => void

/** Hears what becomes of nonces. */
export interface NonceListener {
  onCancelled(nonces: readonly SolverNonce[]): void
  /** A nonce that was used may be unused again: blocks may have been removed. */
  onDoubt(): void
}

/** What chains need beside their own configuration. */
export interface ChainOptions {
  readonly protocolName: string
  readonly maxReorgDepth: number
  /** Makes the journal of one reading: what that one leaves behind must not get to the next one's. */
  readonly createJournal: () => Journal
  readonly replicas: Pick<Replicas, 'campaign' | 'listen' | 'tell'>
  readonly metrics: Metrics
  readonly log: Logger
}

/** Builds a chain. One that is down is served as soon as it is there (docs/decisions.md, D11). */
export function createChain(config: ChainConfig, options: ChainOptions): Chain {
  const { chainId, settlement: address } = config
  const { replicas, metrics, log } = options
  const rpc = createRpcClient(config.rpcUrls, (method, outcome, seconds) => {
    metrics.rpcRequests.inc({ chain_id: chainId, method, outcome })
    metrics.rpcSeconds.observe({ chain_id: chainId }, seconds)
  })
  const settlement = createSettlement(rpc.client, chainId, address)
  const introduction = createIntroduction(config, rpc.endpoints, options)
  const told = createToldView(rpc.client)
  const orders = createOrderReader(chainId, settlement, eye, log)
  let contract: KnownContract | undefined
  let bondListener: BondListener = () => {}
  let nonceListener: NonceListener = { onCancelled() {}, onDoubt() {} }

  /** Whoever sees the chain: the reading where it is done here. */
  function eye(): ChainEye {
    return office.reading() ?? told
  }

  async function introduce(endpoint: Endpoint): Promise<void> {
    contract = await introduction(endpoint)
  }

  function knownContract(): KnownContract {
    if (contract !== undefined) return contract
    throw new ServiceError('CHAIN_UNAVAILABLE', `Chain ${chainId} has not answered yet.`)
  }

  /**
   * Reads the latest state. A node that lags behind the last block seen is read as of that block, or not at all: what
   * it has from before is not reported again.
   */
  async function readLatest<T>(read: (at: BlockChoice) => Promise<T>): Promise<T> {
    const { status, last } = eye().view()
    // In this order, and in one request: the state is not older than the number.
    const [head, answer] = await Promise.all([rpc.client.getBlockNumber({ cacheTime: 0 }), read({})])
    const isBehind = status === 'ok' && last !== undefined && head < last.number
    return isBehind ? read({ blockHash: last.hash }) : answer
  }

  const office = createReadersOffice({
    chainId,
    replicas,
    createReading() {
      const journal = options.createJournal()
      return createReading({
        ...options,
        config,
        journal,
        endpoints: rpc.endpoints,
        introduce,
        listener,
        news,
      })
    },
    introduce: () => atFirstThatAnswers(rpc.endpoints, introduce),
    onChange(lastView) {
      if (lastView !== undefined) told.hear(lastView)
      told.forget()
      // What is remembered is only good for as long as the same eye sees every block.
      orders.clear()
      bondListener(undefined)
      nonceListener.onDoubt()
    },
    log,
  })
  // So that the series is there before the first one.
  metrics.lateEvents.inc({ chain_id: chainId }, 0)
  const news = createChainNews(chainId, replicas)
  const listener: ChainListener = {
    onNews(news) {
      for (const { event } of news.events) orders.forget(event.orderId)
      const touched = touchedSolvers(news)
      if (touched?.size !== 0) bondListener(touched)
      if (news.cancelledNonces.length > 0) nonceListener.onCancelled(news.cancelledNonces)
    },
    onReorganisation() {
      metrics.reorganisations.inc({ chain_id: chainId })
      orders.clear()
      bondListener(undefined)
      nonceListener.onDoubt()
    },
    onLate(events) {
      metrics.lateEvents.inc({ chain_id: chainId }, events)
    },
    onAnnounced({ header, events }) {
      const lagSeconds = Math.max(0, Date.now() - header.timestampMs) / 1000
      for (const _ of events) metrics.eventLagSeconds.observe({ chain_id: chainId }, lagSeconds)
    },
  }
  listenToChainNews(chainId, replicas, {
    onView: told.hear,
    onTouched(orderIds) {
      told.outdate()
      if (orderIds === undefined) orders.clear()
      else for (const orderId of orderIds) orders.forget(orderId)
    },
    onMissed() {
      told.forget()
      orders.clear()
    },
  })

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
    start: office.start,
    status() {
      const { status, head, announced } = eye().view()
      return {
        chainId,
        status,
        headBlock: head?.number,
        eventBlock: announced,
        lagMs: head && Math.max(0, Date.now() - head.timestampMs),
      }
    },
    quoteHasher: () => knownContract().hasher,
    terms: () => knownContract().terms,
    readBond: (solver) => ask(readLatest((at) => settlement.readBond(solver, at))),
    isNonceUsed: (solver, nonce) => ask(readLatest((at) => settlement.isNonceUsed(solver, nonce, at))),
    lastBlockHash: () => eye().view().last?.hash,
    wasNonceUsed: (solver, nonce, blockHash) =>
      settlement.isNonceUsed(solver, nonce, { blockHash }).catch((error) => {
        log.debug({ chainId, reason: summary(error) }, 'a nonce could not be read as of an earlier block')
        return undefined
      }),
    onBondEvents(listener) {
      bondListener = listener
    },
    onNonceEvents(listener) {
      nonceListener = listener
    },
    isReadHere: () => office.reading() !== undefined,
    readOrder: (orderId) => orders.known(orderId) ?? ask(orders.read(orderId)),
    forgetOrder: orders.forget,
    async close() {
      const closed = office.close()
      // What the node has not answered yet must not keep the service.
      rpc.close()
      await closed
    },
  }
}

/** The solvers whose free bond the news may change; undefined when an order's solver is not known. */
function touchedSolvers({ events, bondedSolvers }: ContractNews): ReadonlySet<Address> | undefined {
  const touched = new Set(bondedSolvers)
  for (const { event } of events) {
    if (event.solver === undefined) return undefined
    touched.add(event.solver)
  }
  return touched
}

/** @throws ChainMistake of the first endpoint that answers, or else what the last one failed with */
async function atFirstThatAnswers(
  endpoints: readonly Endpoint[],
  ask: (endpoint: Endpoint) => Promise<void>,
): Promise<void> {
  let failure: unknown
  for (const endpoint of endpoints) {
    try {
      return await ask(endpoint)
    } catch (error) {
      if (error instanceof ChainMistake) throw error
      failure = error
    }
  }
  throw failure
}
