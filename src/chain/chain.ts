import type { ChainConfig } from '../config.js'
import type { ClusterBus, LeaderElection } from '../domain/cluster.js'
import { ServiceError } from '../domain/errors.js'
import type { EventSink } from '../domain/event-sink.js'
import type { Address, Hex } from '../domain/hex.js'
import type { Order } from '../domain/order.js'
import type { SettlementTerms } from '../domain/settlement-terms.js'
import type { Bond } from '../domain/solver.js'
import type { QuoteHasher, QuoteTypedData } from '../signing/typed-data.js'
import type { Logger } from '../telemetry/log.js'
import type { Metrics } from '../telemetry/metrics.js'
import type { ChainListener } from './block-processor.js'
import { createChainLeadership } from './chain-leadership.js'
import type { ChainSnapshot, ChainState } from './chain-state.js'
import { createChainStatePublisher, listenToChainState } from './chain-state-messages.js'
import { createChainSync } from './chain-sync.js'
import type { DecodedLogs, SolverNonce } from './order-events.js'
import { createOrderReader } from './order-reader.js'
import { createRemoteChainState } from './remote-chain-state.js'
import { createRpcClient, type Endpoint } from './rpc-client.js'
import { summary } from './rpc-error.js'
import { type BlockParameter, createSettlement } from './settlement.js'
import { ChainConfigError, createEndpointVerifier, type VerifiedContract } from './verify-endpoint.js'

/** What is known of a chain; blocks are undefined until the chain has answered once. */
export interface ChainStatus {
  readonly chainId: number
  readonly status: ChainSnapshot['status']
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
   * @throws ChainConfigError when it answers and is not what the configuration says
   */
  start(timeoutMs: number): Promise<void>
  status(): ChainStatus
  /** @throws ServiceError CHAIN_UNAVAILABLE until the contract has been read once */
  quoteHasher(): QuoteHasher
  /** What solvers sign, for people; undefined until the contract has been read once. */
  quoteTypedData(): QuoteTypedData | undefined
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
  isLeader(): boolean
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
  invalidateOrder(orderId: Hex): void
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
  readonly createEventSink: () => EventSink
  readonly cluster: ClusterBus & LeaderElection
  readonly metrics: Metrics
  readonly log: Logger
}

/** Builds a chain. One that is down is served as soon as it is there (docs/decisions.md, D11). */
export function createChain(config: ChainConfig, options: ChainOptions): Chain {
  const { chainId, settlement: address } = config
  const { cluster, metrics, log } = options
  const rpc = createRpcClient(config.rpcUrls, (method, outcome, seconds) => {
    metrics.rpcRequests.inc({ chain_id: chainId, method, outcome })
    metrics.rpcSeconds.observe({ chain_id: chainId }, seconds)
  })
  const settlement = createSettlement(rpc.client, chainId, address)
  const verifier = createEndpointVerifier(config, rpc.endpoints, options)
  const told = createRemoteChainState(rpc.client)
  const orders = createOrderReader(chainId, settlement, state, log)
  let contract: VerifiedContract | undefined
  let bondListener: BondListener = () => {}
  let nonceListener: NonceListener = { onCancelled() {}, onDoubt() {} }

  /** Whoever sees the chain: the reading where it is done here. */
  function state(): ChainState {
    return leadership.sync() ?? told
  }

  async function verifyEndpoint(endpoint: Endpoint): Promise<void> {
    contract = await verifier(endpoint)
  }

  function knownContract(): VerifiedContract {
    if (contract !== undefined) return contract
    throw new ServiceError('CHAIN_UNAVAILABLE', `Chain ${chainId} has not answered yet.`)
  }

  /**
   * Reads the latest state. A node that lags behind the last block seen is read as of that block, or not at all: what
   * it has from before is not reported again.
   */
  async function readLatest<T>(read: (at: BlockParameter) => Promise<T>): Promise<T> {
    const { status, last } = state().snapshot()
    // In this order, and in one request: the state is not older than the number.
    const [head, answer] = await Promise.all([rpc.client.getBlockNumber({ cacheTime: 0 }), read({})])
    const isBehind = status === 'ok' && last !== undefined && head < last.number
    return isBehind ? read({ blockHash: last.hash }) : answer
  }

  const leadership = createChainLeadership({
    chainId,
    election: cluster,
    createChainSync() {
      const eventSink = options.createEventSink()
      return createChainSync({
        ...options,
        config,
        eventSink,
        endpoints: rpc.endpoints,
        verifyEndpoint,
        listener,
        publisher,
      })
    },
    verifyEndpoint: () => atFirstThatAnswers(rpc.endpoints, verifyEndpoint),
    onChange(lastView) {
      if (lastView !== undefined) told.update(lastView)
      told.invalidate()
      // What is remembered is only good for as long as the same eye sees every block.
      orders.clear()
      bondListener(undefined)
      nonceListener.onDoubt()
    },
    log,
  })
  // So that the series is there before the first one.
  metrics.lateEvents.inc({ chain_id: chainId }, 0)
  const publisher = createChainStatePublisher(chainId, cluster)
  const listener: ChainListener = {
    onLogs(publisher) {
      for (const { event } of publisher.events) orders.invalidate(event.orderId)
      const invalidated = touchedSolvers(publisher)
      if (invalidated?.size !== 0) bondListener(invalidated)
      if (publisher.cancelledNonces.length > 0) nonceListener.onCancelled(publisher.cancelledNonces)
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
    onPublished({ header, events }) {
      const lagSeconds = Math.max(0, Date.now() - header.timestampMs) / 1000
      for (const _ of events) metrics.eventLagSeconds.observe({ chain_id: chainId }, lagSeconds)
    },
  }
  listenToChainState(chainId, cluster, {
    onSnapshot: told.update,
    onOrdersInvalidated(orderIds) {
      told.invalidateLast()
      if (orderIds === undefined) orders.clear()
      else for (const orderId of orderIds) orders.invalidate(orderId)
    },
    onMissed() {
      told.invalidate()
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
    start: leadership.start,
    status() {
      const { status, head, published } = state().snapshot()
      return {
        chainId,
        status,
        headBlock: head?.number,
        eventBlock: published,
        lagMs: head && Math.max(0, Date.now() - head.timestampMs),
      }
    },
    quoteHasher: () => knownContract().hasher,
    quoteTypedData: () => contract?.typedData,
    terms: () => knownContract().terms,
    readBond: (solver) => ask(readLatest((at) => settlement.readBond(solver, at))),
    isNonceUsed: (solver, nonce) => ask(readLatest((at) => settlement.isNonceUsed(solver, nonce, at))),
    lastBlockHash: () => state().snapshot().last?.hash,
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
    isLeader: () => leadership.sync() !== undefined,
    readOrder: (orderId) => orders.peek(orderId) ?? ask(orders.read(orderId)),
    invalidateOrder: orders.invalidate,
    async close() {
      const closed = leadership.close()
      // What the node has not answered yet must not keep the service.
      rpc.close()
      await closed
    },
  }
}

/** The solvers whose free bond the news may change; undefined when an order's solver is not known. */
function touchedSolvers({ events, bondedSolvers }: DecodedLogs): ReadonlySet<Address> | undefined {
  const invalidated = new Set(bondedSolvers)
  for (const { event } of events) {
    if (event.solver === undefined) return undefined
    invalidated.add(event.solver)
  }
  return invalidated
}

/** @throws ChainConfigError of the first endpoint that answers, or else what the last one failed with */
async function atFirstThatAnswers(
  endpoints: readonly Endpoint[],
  ask: (endpoint: Endpoint) => Promise<void>,
): Promise<void> {
  let failure: unknown
  for (const endpoint of endpoints) {
    try {
      return await ask(endpoint)
    } catch (error) {
      if (error instanceof ChainConfigError) throw error
      failure = error
    }
  }
  throw failure
}
