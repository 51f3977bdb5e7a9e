import {
  type DecodedLogs,
  type SolverNonce,
  UNKNOWN_TIME,
} from '../../packages/protocol/src/settlement/settlement.js'
import type { Address } from '../../packages/protocol/src/values/hex.js'
import type { ChainContext } from './context.js'
import type { Block } from './logs/block-reader.js'
import type { ChainStatePublisher } from './sync/chain-state.js'

/** Receives what may change state that was read from the contract. Only the leader of the chain reports it. */
export interface ChainListener {
  /** The free bonds of these solvers may have changed; undefined means all solvers. Addresses are in lower case. */
  onBonds(solvers: ReadonlySet<Address> | undefined): void
  onNoncesCancelled(nonces: readonly SolverNonce[]): void
  /**
   * All state may be wrong, because a reorganisation has removed blocks. Each replica also reports it when its leadership
   * begins or ends.
   */
  onReset(): void
}

/**
 * Builds the list of one chain's listeners, empty at first. Those that need no answer of the chain join before its start, the others later.
 */
export function createChainListeners() {
  const listeners: Partial<ChainListener>[] = []
  return {
    /** Adds a listener until the chain closes. It replaces no other one. */
    add(listener: Partial<ChainListener>): void {
      listeners.push(listener)
    },
    /** Calls all listeners in the order in which they were added. */
    notify: {
      onBonds(solvers: ReadonlySet<Address> | undefined) {
        for (const listener of listeners) listener.onBonds?.(solvers)
      },
      onNoncesCancelled(nonces: readonly SolverNonce[]) {
        for (const listener of listeners) listener.onNoncesCancelled?.(nonces)
      },
      onReset() {
        for (const listener of listeners) listener.onReset?.()
      },
    },
  }
}

/** Receives what the leader sees on a chain, confirmed or not. */
export type BlockListener = ReturnType<typeof createBlockListener>

/** Builds the listener of a leader. The orders in memory are invalid before anyone else hears of a block. */
export function createBlockListener(
  { config, orders, metrics, clock }: ChainContext,
  listener: ChainListener,
  publisher: ChainStatePublisher,
) {
  const { chainId } = config
  // So that the series exists before the first late event.
  metrics.lateEvents.inc({ chain_id: chainId }, 0)

  function invalidateAll(): void {
    orders.clear()
    listener.onReset()
    publisher.invalidateOrders()
  }

  return {
    onLogs(logs: DecodedLogs): void {
      const orderIds = logs.events.map(({ event }) => event.orderId).concat(logs.changedOrders)
      for (const orderId of orderIds) orders.invalidate(orderId)
      const solvers = touchedSolvers(logs)
      if (solvers?.size !== 0) listener.onBonds(solvers)
      if (logs.cancelledNonces.length > 0) listener.onNoncesCancelled(logs.cancelledNonces)
      if (orderIds.length > 0) publisher.invalidateOrders(orderIds)
    },
    /** The last known blocks have changed, so state that was read from them is invalid. */
    onReorganisation(): void {
      metrics.reorganisations.inc({ chain_id: chainId })
      invalidateAll()
    },
    /** After a failed write, the known blocks are those of the event log again. State that was read from later ones is invalid. */
    onReopened: invalidateAll,
    /** Events were published late, because a node had omitted them at first. */
    onLate(events: number): void {
      metrics.lateEvents.inc({ chain_id: chainId }, events)
    },
    /** The events of a block near the head have been published. */
    onPublished({ header, events }: Block): void {
      if (header.timestampMs === UNKNOWN_TIME) return
      const lagSeconds = Math.max(0, clock.now() - header.timestampMs) / 1000
      for (const _ of events) metrics.eventLagSeconds.observe({ chain_id: chainId }, lagSeconds)
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
