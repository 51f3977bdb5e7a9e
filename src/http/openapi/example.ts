import type { Reason } from '../../domain/errors.js'

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
