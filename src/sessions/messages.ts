import type { Reason, ServiceError } from '../../packages/protocol/src/errors.js'
import type { DeclineCode, SessionResult } from '../../packages/protocol/src/solvers/solver-result.js'
import type { Address, Hex } from '../../packages/protocol/src/values/hex.js'
import type { CallContext } from '../clients/call.js'
import type { ClientId } from '../clients/client-id.js'
import type { Entry } from '../events/tail-buffer.js'
import type { SolverRequest } from '../solvers/transport/solver-transports.js'

/** The most bytes of a solver's message before `ready`. */
export const MAX_HELLO_BYTES = 4096
/** The most bytes of a solver's message after `ready`. */
export const MAX_MESSAGE_BYTES = 64 * 1024

/** A hello whose fields are valid. */
export interface Hello {
  readonly address: Address
  readonly name: string
  /** An origin. */
  readonly audience: string
  /** Served chains, each once. */
  readonly chainIds: readonly number[]
  readonly signature: Hex
  /** Asks for the events of the solver's orders: after a cursor, or `EARLIEST`, or from now on. */
  readonly events: { readonly after: string | undefined } | undefined
}

/** A message of a solver. */
export type SolverMessage =
  | { readonly type: 'hello'; readonly hello: Hello }
  /** `body` has `quote` and `signature`, which are not validated yet. */
  | { readonly type: 'quote'; readonly id: string; readonly body: unknown }
  | { readonly type: 'decline'; readonly id: string; readonly code: DeclineCode }
  | { readonly type: 'pong'; readonly id: string }

/** A message to a solver (docs/decisions.md, D18). */
export type InstanceMessage =
  | { readonly type: 'challenge'; readonly nonce: Hex; readonly serverTime: number }
  | {
      readonly type: 'ready'
      readonly sessionId: string
      readonly heartbeatMs: number
      readonly maxMessageBytes: number
      readonly maxOpenRequests: number
      /** The position at which the events begin; undefined without events. */
      readonly cursor: string | undefined
    }
  | { readonly type: 'quoteRequest'; readonly id: string; readonly solverRequest: SolverRequest }
  | { readonly type: 'result'; readonly id: string; readonly result: SessionResult }
  | { readonly type: 'events'; readonly entries: readonly Entry[] }
  | { readonly type: 'ping'; readonly id: string }
  | { readonly type: 'goAway'; readonly reconnectWithinMs: number }

/** A solver's connection, on any transport. */
export interface SessionConnection {
  /** Sends a message. All messages of one turn of the event loop are written at once. Does nothing after the end. */
  send(message: InstanceMessage): void
  /** Sends a message of a type that does not exist, as a later version of the service might. Only `certify` does this. */
  sendUnknown(): void
  /** Bytes that have not left the process. */
  unsentBytes(): number
  /** Resolves when little is unsent, or when the connection has ended. */
  drained(): Promise<void>
  /** Sends the error and closes the connection. It cuts the connection if the solver does not close it in time. */
  end(error: ServiceError): void
}

/** What a session needs of the call that opens its connection. */
export interface OpeningCall extends Pick<CallContext, 'protocol' | 'requestId'> {
  readonly client: ClientId
  /** The origins by which the request reached the instance. */
  readonly origins: readonly string[]
  /** Called once, when the hello was accepted or refused; not called when the solver has left before. */
  onDecided(result: Reason | 'OK'): void
}

/** The instance's end of a connection. Its transport calls it. */
export interface SessionPeer {
  /** @param read gives the message; it throws ServiceError INVALID_ARGUMENT when the message cannot be read */
  receive(read: () => SolverMessage): void
  /** Ends the connection with an error of the transport, such as a message that is too long. */
  reject(error: ServiceError): void
  /** The connection has ended. */
  leave(): void
}
