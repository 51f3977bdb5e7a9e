import { createRpcClient } from '../../packages/chain/src/rpc-client.js'
import { ServiceError } from '../../packages/protocol/src/errors.js'
import type { OrderWithSteps } from '../../packages/protocol/src/orders/order.js'
import type { SignedQuote } from '../../packages/protocol/src/quotes/quote.js'
import type { DepositVerdict } from '../../packages/protocol/src/quotes/verification.js'
import type { QuoteTypedData, SettlementTerms } from '../../packages/protocol/src/settlement/settlement.js'
import type { QuoteHasher } from '../../packages/protocol/src/signing/typed-data.js'
import type { Bond } from '../../packages/protocol/src/solvers/solver.js'
import type { Address, Hex } from '../../packages/protocol/src/values/hex.js'
import type { ChainConfig } from '../config/config.js'
import { type ChainListener, createBlockListener, createChainListeners } from './chain-listeners.js'
import { createClockSkew } from './clock-skew.js'
import type { ChainContext, ChainsContext } from './context.js'
import { createContractReader } from './contract/contract-reader.js'
import { createEndpointWatch, type EndpointProblem } from './contract/endpoint-watch.js'
import { createEndpointVerifier } from './contract/verify-endpoint.js'
import { createChainLeadership } from './sync/chain-leadership.js'
import {
  type ChainSnapshot,
  type ChainState,
  createChainStatePublisher,
  createRemoteChainState,
} from './sync/chain-state.js'
import { createChainSync } from './sync/chain-sync.js'
import { type BondToken, createBondTokenReader } from './tokens/bond-token.js'
import { createTokenReader, type TokenMetadata } from './tokens/token-reader.js'
import { type CallPriority, createDepositVerifier } from './verification/deposit-verifier.js'
import type { OfferCheck, OfferToCheck } from './verification/offer-check.js'

/** Status of a chain. Block numbers are undefined until the chain has answered for the first time. */
export interface ChainStatus {
  readonly chainId: number
  readonly status: ChainSnapshot['status']
  readonly headBlock: number | undefined
  /** The last block whose events are published. */
  readonly eventBlock: number | undefined
  /** Age of the head block by the local clock. */
  readonly lagMs: number | undefined
  /** How far the clock is ahead of the chain, negative when it is behind; undefined until it is known. */
  readonly clockSkewMs: number | undefined
  /** The next block, when it could not be read for a minute. */
  readonly unread: ChainSnapshot['unread']
  /** The endpoints that have lost their place, as this replica sees them. */
  readonly endpoints: readonly EndpointProblem[]
}

/** One supported chain: its settlement contract and the contract's events. */
export interface Chain {
  readonly chainId: number
  /**
   * Polls the chain for the first time, then at every new block until `close`.
   * @returns after the chain has answered or failed, after three seconds at the latest
   * @throws ChainConfigError when it answers and does not match the configuration
   */
  start(): Promise<void>
  status(): ChainStatus
  /** Time of the highest block seen, Unix time in milliseconds; undefined until the chain has answered. */
  headTimeMs(): number | undefined
  /** Whether this replica is the leader of the chain. */
  isLeader(): boolean
  /** Adds a listener of changes of bonds and nonces until the chain closes. */
  addListener(listener: Partial<ChainListener>): void

  /** @throws ServiceError CHAIN_UNAVAILABLE until the contract has been read for the first time */
  quoteHasher(): QuoteHasher
  /** The typed data that solvers sign, for explanations; undefined until the contract has been read once. */
  quoteTypedData(): QuoteTypedData | undefined
  /** The contract's requirements on every order. @throws ServiceError CHAIN_UNAVAILABLE until they are known */
  terms(): SettlementTerms
  /** What the solver's bond pays for a refund, in hundredths of a percent of the output; undefined while that is not known, and without the view. */
  bondReservationBps(): number | undefined

  /** A bond as of the last block seen, or a later one. @throws ServiceError CHAIN_UNAVAILABLE */
  readBond(solver: Address): Promise<Bond>
  /** Whether a nonce has been used as of the last block seen, or a later one. @throws ServiceError CHAIN_UNAVAILABLE */
  isNonceUsed(solver: Address, nonce: bigint): Promise<boolean>
  /**
   * An order as of the last block seen, with the steps whose events are published. The answer comes from memory when no
   * later event can have changed the order. Without an answer of the database, the order comes after a moment without steps.
   * @throws ServiceError CHAIN_UNAVAILABLE
   */
  readOrder(orderId: Hex): Promise<OrderWithSteps> | OrderWithSteps

  /**
   * Whether the contract would accept the deposit of an offer, by a call of `deposit` as its user at the head. The promise is
   * never rejected. The input token's code runs in the call, so that the one who chose it can cause any verdict.
   * @param signal ends the check at the end of its time; there is no other time limit
   * @param priority `high` by default
   */
  verifyDeposit(
    offer: Pick<SignedQuote, 'quote' | 'signature'>,
    signal: AbortSignal,
    priority?: CallPriority,
  ): Promise<DepositVerdict>
  /**
   * What the contract says of an offer at the newest block (docs/decisions.md, D33). It has the part of the budget that other than best
   * offers have. The promise is never rejected.
   */
  checkOffer(offer: OfferToCheck, signal: AbortSignal): Promise<OfferCheck>

  /** The token of bonds, the same object until more of it is known. Undefined before, and when the contract names none. */
  bondToken(): BondToken | undefined
  /** What is known of tokens of the chain, in their order. Those that are not known are read in the background. */
  describeTokens(tokens: readonly Address[]): readonly TokenMetadata[]

  close(): Promise<void>
}

/** Builds a chain. It also starts while the chain is down, and recovers by itself (docs/decisions.md, D11). */
export function createChain(config: ChainConfig, shared: ChainsContext): Chain {
  const { chainId } = config
  const { metrics, clock } = shared
  const orders = shared.orderCaches.of(chainId)
  const rpc = createRpcClient(config.rpcUrls, {
    clock,
    onCall(method, outcome, seconds) {
      metrics.rpcRequests.inc({ chain_id: chainId, method, outcome })
      metrics.rpcSeconds.observe({ chain_id: chainId }, seconds)
    },
  })
  const context: ChainContext = { ...shared, config, rpc, orders }
  const verifier = createEndpointVerifier(context, () => bondTokenReader.start())
  const { readAny } = verifier
  const watch = createEndpointWatch(context, verifier)
  const tokens = createTokenReader(context, readAny)
  const bondTokenReader = createBondTokenReader(context, readAny, tokens)
  const listeners = createChainListeners()
  const clockSkew = createClockSkew(context)
  const onSnapshot = ({ head }: ChainSnapshot) => clockSkew.saw(head)
  const publisher = createChainStatePublisher(context, onSnapshot)
  const listener = createBlockListener(context, listeners.notify, publisher)
  const remoteState = createRemoteChainState(context, onSnapshot)
  let state: ChainState = remoteState
  const leadership = createChainLeadership(context, {
    createChainSync: () =>
      createChainSync({ ...context, eventSink: shared.eventSinkOf(chainId), verifier, listener, publisher }),
    remoteState,
    verifyEndpoint: () => readAny(async () => {}),
    onChange(next) {
      state = next
      // Orders in memory are valid only while one source sees every block.
      orders.clear()
      listeners.notify.onReset()
    },
  })
  const depositVerifier = createDepositVerifier(context)
  const reader = createContractReader(context, () => state)

  function known<T>(value: T | undefined): T {
    if (value !== undefined) return value
    throw new ServiceError('CHAIN_UNAVAILABLE', `Chain ${chainId} has not answered yet.`)
  }

  return {
    ...reader,
    verifyDeposit: depositVerifier.verifyDeposit,
    checkOffer: depositVerifier.checkOffer,
    chainId,
    start: leadership.start,
    status() {
      const { status, head, published, unread } = state.snapshot
      return {
        chainId,
        status,
        headBlock: head?.number,
        eventBlock: published,
        lagMs: head?.timestampMs ? Math.max(0, clock.now() - head.timestampMs) : undefined,
        clockSkewMs: clockSkew.ms(),
        unread,
        endpoints: watch.problems(),
      }
    },
    quoteHasher: () => known(verifier.contract).hasher,
    quoteTypedData: () => verifier.contract?.typedData,
    terms: () => known(verifier.contract?.views.terms),
    bondReservationBps() {
      const bps = verifier.contract?.views.terms?.bondReservationBps
      return bps === undefined ? undefined : Number(bps)
    },
    bondToken: bondTokenReader.bondToken,
    describeTokens: tokens.describe,
    headTimeMs: () => state.snapshot.head?.timestampMs,
    isLeader: leadership.isLeader,
    addListener: listeners.add,
    async close() {
      const closed = Promise.all([leadership.close(), bondTokenReader.close(), verifier.close()])
      // A request that the node has not answered must not delay the end of the service.
      rpc.close()
      watch.close()
      tokens.close()
      depositVerifier.close()
      await closed
    },
  }
}

/**
 * Builds the time from which the deadlines of a chain's quotes are counted: the later of the clock and the chain's newest block. The
 * contract compares them with the time of a block, so that a clock that is behind would make offers whose time is over.
 * @param now the clock: Unix time in milliseconds, as the result
 */
export function createDeadlineTime(
  chains: ReadonlyMap<number, Chain>,
  now: () => number,
): (chainId: number) => number {
  return (chainId) => Math.max(now(), chains.get(chainId)?.headTimeMs() ?? 0)
}
