import type { Reason } from '../../packages/protocol/src/errors.js'
import type { SettlementDomain } from '../../packages/protocol/src/signing/typed-data.js'

/** One real request and its response. */
export interface Sample {
  /** Verb and path of the operation, such as `GET /v1/{chainId}/solvers`; `unrouted` for a request that reaches none. */
  readonly of: string
  readonly status: number
  /** Why it failed; undefined for a success. */
  readonly reason?: Reason
  /** Values of the path's variables. */
  readonly path?: Readonly<Record<string, string | number>>
  readonly requestBody?: object
  readonly body: unknown
}

/** One real message of the event stream. */
export interface ExampleEvent {
  readonly type: string
  readonly [field: string]: unknown
}

/** What a run of the service gives as examples. */
export interface ExampleRun {
  /** Its settlement contract, with which the hashes in the examples can be computed again. */
  readonly settlement: SettlementDomain
  /** A request and its answer of each kind. */
  readonly exchanges: readonly Sample[]
  /** A message of the event stream of each type. */
  readonly events: readonly ExampleEvent[]
}
