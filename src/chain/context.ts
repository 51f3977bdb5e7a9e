import type { RpcClient } from '../../packages/chain/src/rpc-client.js'
import type { Clock } from '../../packages/protocol/src/clock.js'
import type { ClusterBus, LeaderElection } from '../cluster/cluster.js'
import type { ChainConfig } from '../config/config.js'
import type { OrderStore } from '../store/orders/order-store.js'
import type { Logger } from '../telemetry/log.js'
import type { Metrics } from '../telemetry/metrics.js'
import type { OrderCache, OrderCaches } from './contract/order-cache.js'
import type { EventSink } from './event-sink.js'

/** What all chains get from the rest of the service. */
export interface ChainsContext {
  readonly protocolName: string
  /** How many blocks a reorganisation may remove. */
  readonly maxReorgDepth: number
  /** VERIFY_TIMEOUT_MS: the longest time of a check. An endpoint that is silent for half of it has failed. */
  readonly verifyTimeoutMs: number
  /** Builds the event sink of one chain sync. A sink is never reused, so that late writes of an old one fail. */
  readonly eventSinkOf: (chainId: number) => EventSink
  readonly orderCaches: OrderCaches
  /** The orders whose events are published. */
  readonly orderStore: OrderStore
  readonly cluster: ClusterBus & LeaderElection
  readonly metrics: Metrics
  readonly clock: Clock
  readonly log: Logger
}

/** What the parts of one chain share. */
export interface ChainContext extends ChainsContext {
  readonly config: ChainConfig
  readonly rpc: RpcClient
  /** The orders of the chain in memory. */
  readonly orders: OrderCache
}
