import type { EnvironmentReader } from '../environment.js'
import { DAY_MS, MAX_COUNT } from './ranges.js'

/** Requests that one client may make; 0 is no limit (docs/decisions.md, D8). */
export interface RateLimitConfig {
  /** Of all routes without a limit of their own, per `windowMs`. */
  readonly max: number
  readonly windowMs: number
  /** Per minute, of one method each; `streams` of opening a stream on any transport. */
  readonly quote: number
  readonly order: number
  readonly register: number
  readonly unregister: number
  readonly solvers: number
  readonly streams: number
}

/** Where requests are counted: by each replica for itself, or in the database by all of them together. */
export type RateLimitStore = 'memory' | 'postgres'

/** Reads how many requests a client may make. */
export function readRateLimits(env: EnvironmentReader): RateLimitConfig {
  const limit = (variable: string) => env.integer(variable, { min: 0, max: MAX_COUNT })
  return {
    max: limit('RATE_LIMIT_MAX'),
    windowMs: env.integer('RATE_LIMIT_WINDOW_MS', { min: 1, max: DAY_MS }),
    quote: limit('RATE_LIMIT_QUOTE'),
    order: limit('RATE_LIMIT_ORDER'),
    register: limit('RATE_LIMIT_REGISTER'),
    unregister: limit('RATE_LIMIT_UNREGISTER'),
    solvers: limit('RATE_LIMIT_SOLVERS'),
    streams: limit('RATE_LIMIT_STREAMS'),
  }
}

/** Reads where requests are counted: replicas count together unless told otherwise. */
export function readRateLimitStore(env: EnvironmentReader, databaseUrl: string | undefined): RateLimitStore {
  if (env.optional('RATE_LIMIT_STORE') === undefined) return databaseUrl === undefined ? 'memory' : 'postgres'
  const store = env.oneOf('RATE_LIMIT_STORE', ['memory', 'postgres'])
  if (store === 'postgres' && databaseUrl === undefined)
    env.refuse('RATE_LIMIT_STORE', 'is postgres, for which DATABASE_URL must be set')
  return store
}
