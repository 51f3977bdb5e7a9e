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

/** Status of a chain. Block numbers are undefined until the chain has answered for the first time. */
export interface ChainStatus {
  readonly chainId: number
  readonly status: ChainSnapshot['status']
  readonly headBlock: number | undefined
  /** The last block whose events are published. */
  readonly eventBlock: number | undefined
  /** Age of the head block by the local clock. */
  readonly lagMs: number | undefined
}

/** One supported chain: its settlement contract and the contract's events. */
export interface Chain {
  readonly chainId: number
  /**
   * Polls the chain for the first time, then at every new block until `close`.
   * @returns after the chain has answered or failed, after `timeoutMs` at the latest
   * @throws ChainConfigError when it answers and does not match the configuration
   */
  start(timeoutMs: number): Promise<void>
  status(): ChainStatus
  /** @throws ServiceError CHAIN_UNAVAILABLE until the contract has been read for the first time */
  quoteHasher(): QuoteHasher
  /** The typed data that solvers sign, for explanations; undefined until the contract has been read once. */
  quoteTypedData(): QuoteTypedData | undefined
  /** The contract's requirements on every order, read once. @throws ServiceError CHAIN_UNAVAILABLE until then */
  terms(): SettlementTerms
  /** A bond as of the last block seen, or a later one. @throws ServiceError CHAIN_UNAVAILABLE */
  readBond(solver: Address): Promise<Bond>
  /** Whether a nonce has been used as of the last block seen, or a later one. @throws ServiceError CHAIN_UNAVAILABLE */
  isNonceUsed(solver: Address, nonce: bigint): Promise<boolean>
  /** Hash of the last block whose events have been read, if it is known. */
  lastBlockHash(): Hex | undefined
  /**
   * Whether a nonce was used as of a block that `lastBlockHash` returned (EIP-1898).
   * @returns undefined when the node does not answer for that block
   */
  wasNonceUsed(solver: Address, nonce: bigint, blockHash: Hex): Promise<boolean | undefined>
  /** Whether this replica is the leader of the chain. */
  isLeader(): boolean
  /**
   * Calls `listener` after new blocks with events of solvers' bonds or of orders, and after a reorganisation. Only the
   * leader calls it, and each replica when its leadership begins or ends.
   */
  onBondEvents(listener: BondListener): void
  /** Reports cancelled nonces; only on the leader. */
  onNonceEvents(listener: NonceListener): void
  /**
   * An order as of the last block seen. The answer comes from memory when no later event can have changed the order.
   * @throws ServiceError CHAIN_UNAVAILABLE
   */
  readOrder(orderId: Hex): Promise<Order> | Order
  /** Removes an order from memory, after any replica has published an event of it. */
  invalidateOrder(orderId: Hex): void
  close(): Promise<void>
}

/** Receives the solvers whose free bond may have changed, in lower case; undefined means all solvers. */
export type BondListener = (solvers: ReadonlySet<Address> | undefined) => void

/** Receives changes of nonces. */
export interface NonceListener {
  onCancelled(nonces: readonly SolverNonce[]): void
  /** A used nonce may be unused again, because a reorganisation may have removed blocks. */
  onDoubt(): void
}

/** Options of a chain next to its configuration. */
export interface ChainOptions {
  readonly protocolName: string
  readonly maxReorgDepth: number
  /** Creates the event sink of one chain sync. A sink is never reused, so that late writes of an old one fail. */
  readonly createEventSink: () => EventSink
  readonly cluster: ClusterBus & LeaderElection
  readonly metrics: Metrics
  readonly log: Logger
}

/** Builds a chain. It also starts while the chain is down, and recovers by itself (docs/decisions.md, D11). */
export function createChain(config: ChainConfig, options: ChainOptions): Chain {
  const { chainId, settlement: address } = config
  const { cluster, metrics, log } = options
  const rpc = createRpcClient(config.rpcUrls, (method, outcome, seconds) => {
    metrics.rpcRequests.inc({ chain_id: chainId, method, outcome })
    metrics.rpcSeconds.observe({ chain_id: chainId }, seconds)
  })
  const settlement = createSettlement(rpc.client, chainId, address)
  const verifier = createEndpointVerifier(config, rpc.endpoints, options)
  const remoteState = createRemoteChainState(rpc.client)
  const orders = createOrderReader(chainId, settlement, state, log)
  let contract: VerifiedContract | undefined
  let bondListener: BondListener = () => {}
  let nonceListener: NonceListener = { onCancelled() {}, onDoubt() {} }

  /** The state of the chain sync on the leader; the received state on a follower replica. */
  function state(): ChainState {
    return leadership.sync() ?? remoteState
  }

  async function verifyEndpoint(endpoint: Endpoint): Promise<void> {
    contract = await verifier(endpoint)
  }

  function knownContract(): VerifiedContract {
    if (contract !== undefined) return contract
    throw new ServiceError('CHAIN_UNAVAILABLE', `Chain ${chainId} has not answered yet.`)
  }

  /**
   * Reads the latest state. When the node lags below the last block seen, it reads the state of that block instead, or
   * fails. Otherwise an old state could count, and its events are not reported again.
   */
  async function readLatest<T>(read: (at: BlockParameter) => Promise<T>): Promise<T> {
    const { status, last } = state().snapshot()
    // Both in one request, in this order, so that the state is not older than the number.
    const [head, answer] = await Promise.all([rpc.client.getBlockNumber({ cacheTime: 0 }), read({})])
    const isLagging = status === 'ok' && last !== undefined && head < last.number
    return isLagging ? read({ blockHash: last.hash }) : answer
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
    onChange(lastSnapshot) {
      if (lastSnapshot !== undefined) remoteState.update(lastSnapshot)
      remoteState.invalidate()
      // Orders in memory are valid only while one source sees every block.
      orders.clear()
      bondListener(undefined)
      nonceListener.onDoubt()
    },
    log,
  })
  // So that the series exists before the first late event.
  metrics.lateEvents.inc({ chain_id: chainId }, 0)
  const publisher = createChainStatePublisher(chainId, cluster)
  const listener: ChainListener = {
    onLogs(logs) {
      for (const { event } of logs.events) orders.invalidate(event.orderId)
      const solvers = touchedSolvers(logs)
      if (solvers?.size !== 0) bondListener(solvers)
      if (logs.cancelledNonces.length > 0) nonceListener.onCancelled(logs.cancelledNonces)
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
    onSnapshot: remoteState.update,
    onOrdersInvalidated(orderIds) {
      remoteState.invalidateLast()
      if (orderIds === undefined) orders.clear()
      else for (const orderId of orderIds) orders.invalidate(orderId)
    },
    onMissed() {
      remoteState.invalidate()
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
      // A request that the node has not answered must not delay the end of the service.
      rpc.close()
      await closed
    },
  }
}

/** The solvers whose free bond the logs may change; undefined when the solver of an order is not known. */
function touchedSolvers({ events, bondedSolvers }: DecodedLogs): ReadonlySet<Address> | undefined {
  const solvers = new Set(bondedSolvers)
  for (const { event } of events) {
    if (event.solver === undefined) return undefined
    solvers.add(event.solver)
  }
  return solvers
}

/** @throws ChainConfigError of the first endpoint that answers; otherwise the error of the last endpoint */
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
