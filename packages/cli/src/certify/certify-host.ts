import type { Reason } from '../../../protocol/src/errors.js'
import type { QuoteRequest } from '../../../protocol/src/quotes/quote.js'
import type { SolverResult } from '../../../protocol/src/solvers/solver-result.js'
import type { Address } from '../../../protocol/src/values/hex.js'

/**
 * The parts of the service that ask a solver. `certify` runs them, so that it sees what an instance would see, and judges what
 * comes. The service's command line has them: src/operator/certify/service-parts.ts.
 */
export interface CertifyHost {
  /** Opens the service's HTTP client for one endpoint. Nothing is connected before the first request. */
  openEndpoint(options: EndpointOptions): CertifiedEndpoint
  /**
   * Starts an instance that has only sessions, for one solver.
   * @throws CommandFailure when the port cannot be opened
   */
  startSessions(options: SessionHostOptions): Promise<SessionHost>
}

export interface EndpointOptions {
  readonly url: string
  readonly solver: Address
}

export interface SessionHostOptions {
  readonly host: string
  /** 0 takes a free one. */
  readonly port: number
  readonly chainId: number
  readonly protocolName: string
  /** Undefined for the first solver that connects. */
  readonly solver: Address | undefined
}

/** Time between two pings of a host of sessions: short, so that a run sees some. */
export const HEARTBEAT_MS = 1000

/** A request to a solver, which the service writes and sends. */
export interface TrialRequest {
  readonly solver: Address
  readonly request: QuoteRequest
  /** The solver's id of the quote, a UUID. */
  readonly id: string
  /** The deadline that the solver gets, Unix time in milliseconds. */
  readonly deadline: number
  /** Changes the JSON text that the service has written. */
  readonly write?: ((body: string) => string) | undefined
}

/** JSON that is not validated yet, or a result without an offer. */
export type TrialAnswer =
  | { readonly kind: 'replied'; readonly body: unknown }
  | Exclude<SolverResult, { kind: 'quoted' | 'soft_deadline' | 'circuit_open' | 'cancelled' }>

/** How a solver is asked: at its endpoint or on its session. */
export interface TrialTransport {
  /**
   * Sends a request, and waits for the reply. The promise is not rejected.
   * @param signal ends the wait, as `timeoutMs` does: the result is then `late`, or `failed` when the request was not sent
   */
  requestQuote(request: TrialRequest, timeoutMs: number, signal: AbortSignal): Promise<TrialAnswer>
  /** Reports what came of a request to the solver, by the id of the request. */
  reportResult(id: string, result: SolverResult): void
}

/** A solver's endpoint. */
export interface CertifiedEndpoint extends TrialTransport, EndpointOptions {
  /** @throws Error when an instance in production would not call the URL */
  assertAllowedInProduction(): Promise<void>
  close(): Promise<void>
}

/** An instance that has only sessions, for one solver. */
export interface SessionHost extends TrialTransport {
  /** Base URL. */
  readonly url: string
  /** The solver whose session came last. */
  solver(): Address | undefined
  /** The newest open session, which can send a message of a type that no solver knows; undefined while there is none. */
  current(): { sendUnknown(): void } | undefined
  /** The connections that the service has ended, in order. */
  readonly ends: readonly ConnectionEnd[]
  /** Announces a shutdown, after which a restarted instance accepts the solver. @returns a function that ends the old sessions */
  restart(): { readonly reconnectWithinMs: number; endOld(): void }
  close(): Promise<void>
}

/** The end of a connection, or its refusal, by the service. */
export interface ConnectionEnd {
  readonly reason: Reason
  /** With the fields that were wrong. */
  readonly message: string
  /** Whether its hello had been accepted. */
  readonly wasOpen: boolean
}
