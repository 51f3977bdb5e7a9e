import type { PublicClient } from 'viem'
import type { Endpoint } from '../../../packages/chain/src/rpc-endpoint.js'
import type { Clock } from '../../../packages/protocol/src/clock.js'
import type { ChainConfig } from '../../config/config.js'
import type { Logger } from '../../telemetry/log.js'
import type { Metrics } from '../../telemetry/metrics.js'
import type { BlockListener } from '../chain-listeners.js'
import type { EndpointVerifier } from '../contract/verify-endpoint.js'
import type { EventSink } from '../event-sink.js'
import type { ChainStatePublisher } from './chain-state.js'

/** What the parts of a chain's sync get from the chain and the rest of the service. */
export interface ChainSyncContext {
  readonly config: ChainConfig
  /** How many blocks a reorganisation may remove. */
  readonly maxReorgDepth: number
  readonly eventSink: EventSink
  /** Calls the endpoints in order until one answers. */
  readonly client: PublicClient
  readonly endpoints: readonly Endpoint[]
  readonly verifier: EndpointVerifier
  readonly listener: BlockListener
  /** Sends the state to the other replicas. */
  readonly publisher: ChainStatePublisher
  readonly metrics: Metrics
  readonly clock: Clock
  readonly log: Logger
}
