import { DAY_MS } from '../../packages/protocol/src/values/time.js'
import { LIMITS_OF_USERS, type LimitName } from '../clients/api-key.js'
import type { EnvironmentReader } from './environment.js'

/** Upper limit of all variables that are counts. */
export const MAX_COUNT = 1_000_000

/** Limits of the requests of one client; 0 is no limit (docs/decisions.md, D8). */
export type RateLimitConfig = Readonly<ReturnType<typeof readRateLimits>>

/** Where requests are counted: in the memory of each replica, or in the database for all replicas together. */
export type RateLimitStore = 'memory' | 'postgres'

/** Reads the limits of a client's requests. */
export function readRateLimits(env: EnvironmentReader) {
  const limit = (variable: string) => env.integer(variable, { min: 0, max: MAX_COUNT })
  return {
    /** Requests per `windowMs` to all routes that have no separate limit. */
    max: limit('RATE_LIMIT_MAX'),
    windowMs: env.integer('RATE_LIMIT_WINDOW_MS', { min: 1, max: DAY_MS }),
    /** Requests per minute to one method each. `streams` counts opened streams on all transports. */
    quote: limit('RATE_LIMIT_QUOTE'),
    price: limit('RATE_LIMIT_PRICE'),
    order: limit('RATE_LIMIT_ORDER'),
    register: limit('RATE_LIMIT_REGISTER'),
    unregister: limit('RATE_LIMIT_UNREGISTER'),
    solvers: limit('RATE_LIMIT_SOLVERS'),
    results: limit('RATE_LIMIT_RESULTS'),
    streams: limit('RATE_LIMIT_STREAMS'),
    /** Connections for a solver session, on both transports. */
    sessions: limit('RATE_LIMIT_SESSIONS'),
  }
}

/** Reads the limits whose requests need an API key (docs/decisions.md, D27). */
export function readRequireApiKey(env: EnvironmentReader): ReadonlySet<LimitName> {
  const isLimit = (text: string): text is LimitName => LIMITS_OF_USERS.some((name) => name === text)
  const mustBe = `all, or some of ${LIMITS_OF_USERS.join(', ')}`
  const names = env.checkedList('REQUIRE_API_KEY', (text) => text === 'all' || isLimit(text), mustBe)
  return new Set(names.includes('all') ? LIMITS_OF_USERS : names.filter(isLimit))
}

/** Reads where requests are counted. By default, replicas count together. */
export function readRateLimitStore(env: EnvironmentReader, databaseUrl: string | undefined): RateLimitStore {
  if (env.optional('RATE_LIMIT_STORE') === undefined) return databaseUrl === undefined ? 'memory' : 'postgres'
  const store = env.oneOf('RATE_LIMIT_STORE', ['memory', 'postgres'])
  if (store === 'postgres' && databaseUrl === undefined)
    env.refuse('RATE_LIMIT_STORE', 'is postgres, for which DATABASE_URL must be set')
  return store
}
