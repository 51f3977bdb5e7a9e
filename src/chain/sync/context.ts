import type { BlockListener } from '../chain-listeners.js'
import type { ChainContext } from '../context.js'
import type { EndpointVerifier } from '../contract/verify-endpoint.js'
import type { EventSink } from '../event-sink.js'
import type { ChainStatePublisher } from './chain-state.js'

/** What the parts of a chain's sync share. */
export interface ChainSyncContext extends ChainContext {
  readonly eventSink: EventSink
  readonly verifier: EndpointVerifier
  readonly listener: BlockListener
  /** Sends the state to the other replicas. */
  readonly publisher: ChainStatePublisher
}
