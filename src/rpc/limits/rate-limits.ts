import { type RateLimiterAbstract, RateLimiterMemory, RateLimiterRes } from 'rate-limiter-flexible'
import { ServiceError } from '../../../packages/protocol/src/errors.js'
import { LIMITS, type LimitName } from '../../clients/api-key.js'
import type { CallContext } from '../../clients/call.js'
import type { ClientId, ClientKey, ClientNetwork } from '../../clients/client-id.js'
import type { RateLimitConfig } from '../../config/config.js'
import type { Metrics } from '../../telemetry/metrics.js'
import { WindowCounts } from './window-counts.js'

/** What limits need of a call: whom it counts for, and where its response says so. */
export type LimitedCall = Pick<CallContext, 'client' | 'setHeader'>

/**
 * Counts requests by client in fixed windows (docs/decisions.md, D8), and by IPv6 network (docs/decisions.md, D14). Every request
 * that has a limit passes here, so that this is also where API keys are refused (docs/decisions.md, D27).
 */
export interface RateLimits {
  /**
   * Counts one request and sets the `RateLimit-*` headers of its response.
   * @throws ServiceError RATE_LIMITED with the seconds until the window ends, API_KEY_INVALID or API_KEY_REQUIRED
   */
  consume(name: LimitName, call: LimitedCall): Promise<void>
}

/** Counts the requests of each key. */
type Limiter = Pick<RateLimiterAbstract, 'consume' | 'get'>

/** Builds the counter of one limit: each client has `points` in each window, which begins with its first request. */
export type LimiterOf = (name: LimitName, points: number, windowMs: number) => Limiter

interface RateLimitsOptions {
  /** Builds the counters; they are in this process's memory when undefined. */
  readonly limiterOf?: LimiterOf | undefined
  /** The limits whose requests need an API key. */
  readonly requireApiKey?: ReadonlySet<LimitName>
  /** Called for every request above a limit. */
  onRejected?(name: LimitName): void
  /** The series of keys, by label and limit. */
  readonly keyMetrics?: Pick<Metrics, 'keyRequests' | 'keyRejections'>
  /** For each limit, the new clients of a window that have their own counts, for IPv4 and IPv6 each. */
  readonly maxClients?: number
}

const MINUTE_MS = 60_000
/** More clients than this share a few counts, so that memory and tables stay bounded. */
const MAX_CLIENTS = 50_000
/** A key may make this many times the requests of an address, unless the operator has set its limit. */
const KEY_FACTOR = 20
const KEY_REQUIRED = 'This request needs an API key of this instance: ask its operator for one.'

const inMemory: LimiterOf = (_name, points, windowMs) =>
  new RateLimiterMemory({ points, duration: windowMs / 1000 })

/** Builds the counters; a limit of 0 counts nothing. */
export function createRateLimits(config: RateLimitConfig, options: RateLimitsOptions = {}): RateLimits {
  const { limiterOf = inMemory, requireApiKey, onRejected = () => {}, maxClients = MAX_CLIENTS } = options

  function createCount(name: LimitName) {
    const isGlobal = name === 'global'
    const [limit, windowMs] = isGlobal ? [config.max, config.windowMs] : [config[name], MINUTE_MS]
    const shared = { windowMs, onRejected: () => onRejected(name) }
    const limiterFor = (points: number) => limiterOf(name, points, windowMs)
    const count =
      limit === 0 ? undefined : createCounter({ ...shared, limiter: limiterFor(limit), limit, maxClients })
    const { keyMetrics } = options
    const countKey = createKeyCounter({ ...shared, name, limit: limit * KEY_FACTOR, limiterFor, keyMetrics })
    return async (call: LimitedCall): Promise<void> => {
      const { apiKey, refusal } = call.client
      if (apiKey !== undefined) return countKey(apiKey, call)
      await count?.(call)
      if (refusal !== undefined) throw new ServiceError('API_KEY_INVALID', refusal)
      if (requireApiKey?.has(name)) throw new ServiceError('API_KEY_REQUIRED', KEY_REQUIRED)
    }
  }

  const counts = new Map(LIMITS.map((name) => [name, createCount(name)]))
  return { consume: async (name, call) => counts.get(name)?.(call) }
}

/** A count in the form of the headers. */
type Count = Pick<RateLimiterRes, 'remainingPoints' | 'msBeforeNext'>

/** Shows a count in the headers of the response. @returns the seconds until its window ends */
function show(call: LimitedCall, points: number, { remainingPoints, msBeforeNext }: Count): number {
  const resetSeconds = Math.ceil(msBeforeNext / 1000)
  call.setHeader('ratelimit-limit', String(points))
  call.setHeader('ratelimit-remaining', String(remainingPoints))
  call.setHeader('ratelimit-reset', String(resetSeconds))
  return resetSeconds
}

/** @param of the clients that share the limit @throws ServiceError RATE_LIMITED */
function reject(call: LimitedCall, points: number, of: string, count: Count): never {
  const retryAfterSeconds = show(call, points, count)
  call.setHeader('retry-after', String(retryAfterSeconds))
  const message = `Too many requests${of}: at most ${points} in this window, try again in ${retryAfterSeconds} s.`
  throw new ServiceError('RATE_LIMITED', message, { retryAfterSeconds })
}

interface KeyCounterOptions extends Pick<RateLimitsOptions, 'keyMetrics'> {
  readonly name: LimitName
  /** The limit of a key without one of its own. */
  readonly limit: number
  readonly limiterFor: (points: number) => Limiter
  onRejected(): void
}

/** Builds the counter of API keys. Keys are few, so that each has its own count. */
function createKeyCounter({ name, limit, limiterFor, keyMetrics, onRejected }: KeyCounterOptions) {
  const limiters = new Map<number, Limiter>()
  /** The series of each key. The first rejection shows as an increase. */
  const series = new WeakMap<ClientKey, Record<'requests' | 'rejections', { inc(value?: number): void }>>()

  function seriesOf(apiKey: ClientKey) {
    const found = series.get(apiKey)
    if (found !== undefined || keyMetrics === undefined) return found
    const labels = { key: apiKey.label, limit: name }
    const made = {
      requests: keyMetrics.keyRequests.labels(labels),
      rejections: keyMetrics.keyRejections.labels(labels),
    }
    made.rejections.inc(0)
    series.set(apiKey, made)
    return made
  }

  return async (apiKey: ClientKey, call: LimitedCall): Promise<void> => {
    const counted = seriesOf(apiKey)
    counted?.requests.inc()
    const points = apiKey.limits[name] ?? limit
    if (points === 0) return
    const limiter = limiters.get(points) ?? limiterFor(points)
    limiters.set(points, limiter)
    try {
      show(call, points, await limiter.consume(call.client.key))
    } catch (result) {
      if (!(result instanceof RateLimiterRes)) throw result
      onRejected()
      counted?.rejections.inc()
      reject(call, points, ' with this API key', result)
    }
  }
}

interface CounterOptions {
  readonly limiter: Limiter
  readonly limit: number
  readonly windowMs: number
  readonly maxClients: number
  onRejected(): void
}

/** Builds the counter of clients without a key. */
function createCounter(options: CounterOptions) {
  const { limiter, limit, windowMs, maxClients, onRejected } = options
  const window = new WindowCounts({ limit, windowMs, maxClients })
  const { networks, newClients } = window

  function rejectNetwork(call: LimitedCall, network: ClientNetwork): never {
    onRejected()
    const count = { remainingPoints: 0, msBeforeNext: window.msUntilEnd() }
    reject(call, networks.limitOf(network), ` of this IPv6 /${network.prefixLength}`, count)
  }

  /** Counts a request of a client that has its own count. */
  async function countOwn(id: ClientId, call: LimitedCall): Promise<void> {
    const full = networks.charge(id)
    if (full !== undefined) rejectNetwork(call, full)
    try {
      const result = await limiter.consume(id.key)
      if (result.isFirstInDuration) newClients.add(id)
      show(call, limit, result)
    } catch (result) {
      networks.refund(id)
      rejectResult(call, result)
    }
  }

  /** Counts a request of a client that shares a count with others of its network. */
  async function countShared(key: string, id: ClientId, call: LimitedCall): Promise<void> {
    const full = networks.fullNetwork(id)
    if (full !== undefined) rejectNetwork(call, full)
    try {
      show(call, limit, await limiter.consume(key))
    } catch (result) {
      rejectResult(call, result)
    }
  }

  function rejectResult(call: LimitedCall, result: unknown): never {
    if (!(result instanceof RateLimiterRes)) throw result
    onRejected()
    reject(call, limit, '', result)
  }

  return async (call: LimitedCall): Promise<void> => {
    const id = call.client
    window.beginWhenDue()
    const sharedKey = newClients.sharedKeyOf(id)
    // A client that came before counts were shared keeps its own count.
    if (sharedKey === undefined || (await limiter.get(id.key)) !== null) await countOwn(id, call)
    else await countShared(sharedKey, id, call)
  }
}
