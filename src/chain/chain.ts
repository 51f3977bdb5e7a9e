import { createRpcClient } from '../../packages/chain/src/rpc-client.js'
import { ServiceError } from '../../packages/protocol/src/errors.js'
import type { QuoteTypedData, SettlementTerms } from '../../packages/protocol/src/settlement/settlement.js'
import type { QuoteHasher } from '../../packages/protocol/src/signing/typed-data.js'
import type { ChainConfig } from '../config/config.js'
import { createBlockListener, createChainListeners } from './chain-listeners.js'
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
import { createBondTokenReader } from './tokens/bond-token.js'
import { createTokenReader } from './tokens/token-reader.js'
import { createDepositVerifier } from './verification/deposit-verifier.js'

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
export type Chain = ReturnType<typeof createChain>

/** Builds a chain. It also starts while the chain is down, and recovers by itself (docs/decisions.md, D11). */
export function createChain(config: ChainConfig, shared: ChainsContext) {
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
    /**
     * Polls the chain for the first time, then at every new block until `close`.
     * @returns after the chain has answered or failed, after three seconds at the latest
     * @throws ChainConfigError when it answers and does not match the configuration
     */
    start: leadership.start,
    status(): ChainStatus {
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
    /** @throws ServiceError CHAIN_UNAVAILABLE until the contract has been read for the first time */
    quoteHasher: (): QuoteHasher => known(verifier.contract).hasher,
    /** The typed data that solvers sign, for explanations; undefined until the contract has been read once. */
    quoteTypedData: (): QuoteTypedData | undefined => verifier.contract?.typedData,
    /** The contract's requirements on every order. @throws ServiceError CHAIN_UNAVAILABLE until they are known */
    terms: (): SettlementTerms => known(verifier.contract?.views.terms),
    /** What the solver's bond pays for a refund, in hundredths of a percent of the output; undefined while that is not known, and without the view. */
    bondReservationBps(): number | undefined {
      const bps = verifier.contract?.views.terms?.bondReservationBps
      return bps === undefined ? undefined : Number(bps)
    },
    /** The token of bonds, read once. Undefined until then, and when the contract names none. */
    bondToken: bondTokenReader.bondToken,
    /** What is known of tokens of the chain. Those that are not known are read in the background. */
    describeTokens: tokens.describe,
    /** Time of the highest block seen, Unix time in milliseconds; undefined until the chain has answered. */
    headTimeMs: (): number | undefined => state.snapshot.head?.timestampMs,
    /** Whether this replica is the leader of the chain. */
    isLeader: leadership.isLeader,
    /** Adds a listener of changes of bonds and nonces. */
    addListener: listeners.add,
    async close(): Promise<void> {
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
