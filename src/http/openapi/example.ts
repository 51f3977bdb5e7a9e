import type { Reason } from '../../domain/errors.js'

/** One real request and its answer. */
export interface Sample {
  /** Verb and path as the document has them, such as `GET /v1/{chainId}/solvers`; `refused` for what reaches no operation. */
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
