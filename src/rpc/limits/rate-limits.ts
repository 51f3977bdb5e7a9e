import { hash, randomUUID } from 'node:crypto'
import { type RateLimiterAbstract, RateLimiterMemory, RateLimiterRes } from 'rate-limiter-flexible'
import { ServiceError } from '../../../packages/protocol/src/errors.js'
import { LIMITS, type LimitName } from '../../clients/api-key.js'
import type { CallContext } from '../../clients/call.js'
import { NETWORK_FACTORS } from '../../clients/client-counts.js'
import type { ClientId, ClientKey, ClientNetwork } from '../../clients/client-id.js'
import type { RateLimitConfig } from '../../config/config.js'
import type { Metrics } from '../../telemetry/metrics.js'

/** What limits need of a call: whom it counts for, and where its response says so. */
export type LimitedCall = Pick<CallContext, 'client' | 'setHeader'>

/**
 * Counts requests by client in fixed windows (docs/decisions.md, D8), and by IPv6 network (docs/decisions.md, D14). Every
 * request that has a limit passes here, so that this is also where API keys are refused (docs/decisions.md, D27).
 */
export type RateLimits = ReturnType<typeof createRateLimits>

/** Counts the requests of each key. */
type Limiter = Pick<RateLimiterAbstract, 'consume' | 'get'>

/** Builds the counter of one limit: each client has `points` in each window, which begins with its first request. */
type LimiterOf = (name: LimitName, points: number, windowMs: number) => Limiter

interface RateLimitsOptions {
  /** Builds the counters; they are in this process's memory when undefined. */
  readonly limiterOf?: LimiterOf | undefined
  /** The limits whose requests need an API key. */
  readonly requireApiKey?: ReadonlySet<LimitName>
  /** Called for every request above a limit. */
  onRejected?(name: LimitName): void
  /** The series of keys, by label and limit. */
  readonly keyMetrics?: Metrics
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
export function createRateLimits(config: RateLimitConfig, options: RateLimitsOptions = {}) {
  const { limiterOf = inMemory, requireApiKey, keyMetrics, maxClients = MAX_CLIENTS } = options

  function createCount(name: LimitName) {
    const isGlobal = name === 'global'
    const [limit, windowMs] = isGlobal ? [config.max, config.windowMs] : [config[name], MINUTE_MS]
    const onRejected = () => options.onRejected?.(name)
    const limiterFor = (points: number) => limiterOf(name, points, windowMs)
    const window = createWindowCounts(limit, windowMs, maxClients)
    const count = limit === 0 ? undefined : createCounter(limiterFor(limit), limit, window, onRejected)
    const countKey = createKeyCounter(name, limit * KEY_FACTOR, limiterFor, onRejected, keyMetrics)
    return async (call: LimitedCall): Promise<void> => {
      const { apiKey, refusal } = call.client
      if (apiKey !== undefined) return countKey(apiKey, call)
      await count?.(call)
      if (refusal !== undefined) throw new ServiceError('API_KEY_INVALID', refusal)
      if (requireApiKey?.has(name)) throw new ServiceError('API_KEY_REQUIRED', KEY_REQUIRED)
    }
  }

  const counts = new Map(LIMITS.map((name) => [name, createCount(name)]))
  return {
    /**
     * Counts one request and sets the `RateLimit-*` headers of its response.
     * @throws ServiceError RATE_LIMITED with the seconds until the window ends, API_KEY_INVALID or API_KEY_REQUIRED
     */
    consume: async (name: LimitName, call: LimitedCall): Promise<void> => counts.get(name)?.(call),
  }
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

/**
 * Builds the counter of API keys. Keys are few, so that each has its own count.
 * @param limit of a key without one of its own
 */
function createKeyCounter(
  name: LimitName,
  limit: number,
  limiterFor: (points: number) => Limiter,
  onRejected: () => void,
  keyMetrics: RateLimitsOptions['keyMetrics'],
) {
  const limiters = new Map<number, Limiter>()

  return async (apiKey: ClientKey, call: LimitedCall): Promise<void> => {
    const labels = { key: apiKey.label, limit: name }
    keyMetrics?.keyRequests.inc(labels)
    // The first rejection shows as an increase.
    keyMetrics?.keyRejections.inc(labels, 0)
    const points = apiKey.limits[name] ?? limit
    if (points === 0) return
    const limiter = limiters.get(points) ?? limiterFor(points)
    limiters.set(points, limiter)
    try {
      show(call, points, await limiter.consume(call.client.key))
    } catch (result) {
      if (!(result instanceof RateLimiterRes)) throw result
      onRejected()
      keyMetrics?.keyRejections.inc(labels)
      reject(call, points, ' with this API key', result)
    }
  }
}

/** Builds the counter of clients without a key. */
function createCounter(
  limiter: Limiter,
  limit: number,
  window: ReturnType<typeof createWindowCounts>,
  onRejected: () => void,
) {
  return async (call: LimitedCall): Promise<void> => {
    const { client } = call
    window.beginWhenDue()
    const sharedKey = window.sharedKeyOf(client)
    // A client that came before counts were shared keeps its own count.
    const isOwn = sharedKey === undefined || (await limiter.get(client.key)) !== null
    const full = window.fullNetwork(client)
    if (full !== undefined) {
      onRejected()
      const count = { remainingPoints: 0, msBeforeNext: window.msUntilEnd() }
      reject(call, window.limitOf(full), ` of this IPv6 /${full.prefixLength}`, count)
    }
    if (isOwn) window.charge(client, 1)
    try {
      const result = await limiter.consume(isOwn ? client.key : sharedKey)
      if (isOwn && result.isFirstInDuration) window.addClient(client)
      show(call, limit, result)
    } catch (result) {
      if (isOwn) window.charge(client, -1)
      if (!(result instanceof RateLimiterRes)) throw result
      onRejected()
      reject(call, limit, '', result)
    }
  }
}

/**
 * A region may have this part of all new clients of its IP version, and an IPv6 /48 this part of the clients of its region.
 */
const NETWORK_PART = 1 / 8
/** The later clients of one network share so many counts, and those of all networks so many for each IP version. */
const SHARED_COUNTS = { network: 16, all: 64 }
/** Nobody can choose with whom a client shares a count. */
const SALT = randomUUID()

/**
 * The requests of IPv6 networks and the new clients of one limit, in fixed windows and in memory. The number of clients with
 * their own counts bounds them.
 * @param maxClients the new clients of a window that have their own counts, for IPv4 and IPv6 each
 */
function createWindowCounts(limit: number, windowMs: number, maxClients: number) {
  const requests = new Map<string, number>()
  /** The new clients by IP version, region and IPv6 /48. */
  const clients = new Map<string, number>()
  /** On a clock that never goes back. */
  let end = Number.NEGATIVE_INFINITY

  const limitOf = ({ prefixLength }: ClientNetwork) => limit * NETWORK_FACTORS[prefixLength]
  const isFull = ({ key, max }: { readonly key: string; readonly max: number }) =>
    (clients.get(key) ?? 0) >= max

  /** What is around a client, the widest first. */
  function groupsOf({ isIpv6, region, networks }: ClientId) {
    const ofRegion = Math.ceil(maxClients * NETWORK_PART)
    const groups = [
      { key: isIpv6 ? 'ipv6' : 'ipv4', max: maxClients, isNetwork: false },
      { key: region, max: ofRegion, isNetwork: true },
    ]
    const site = networks.at(-1)
    if (site !== undefined)
      groups.push({ key: site.key, max: Math.ceil(ofRegion * NETWORK_PART), isNetwork: true })
    return groups
  }

  return {
    /** The requests that a network may make in a window. */
    limitOf,
    /** Begins a new window when the last one has ended; call it before any count of a request. */
    beginWhenDue(): void {
      if (performance.now() < end) return
      end = performance.now() + windowMs
      requests.clear()
      clients.clear()
    },
    msUntilEnd: (): number => Math.max(0, end - performance.now()),
    /** A network around a client that has no requests left. */
    fullNetwork: ({ networks }: ClientId): ClientNetwork | undefined =>
      networks.find((network) => (requests.get(network.key) ?? 0) >= limitOf(network)),
    /** Counts a request for the networks around a client. @param by -1 takes it back; a new window may have begun since */
    charge({ networks }: ClientId, by: 1 | -1): void {
      for (const { key } of networks) requests.set(key, Math.max(0, (requests.get(key) ?? 0) + by))
    },
    /** The key that a new client shares with others when there are too many; undefined while it has its own count. */
    sharedKeyOf(client: ClientId): string | undefined {
      const narrowest = groupsOf(client).findLast(isFull)
      if (narrowest === undefined) return undefined
      const counts = narrowest.isNetwork ? SHARED_COUNTS.network : SHARED_COUNTS.all
      const digest = hash('sha256', `${SALT}${client.key}`, 'hex').slice(0, 8)
      return `shared ${narrowest.key} ${Number.parseInt(digest, 16) % counts}`
    },
    /** Counts a client that has made its first request of a window. */
    addClient(client: ClientId): void {
      const groups = groupsOf(client)
      // While the first requests of a network are being counted, more clients of it may come. They must not take the counts
      // of others.
      if (groups.some((group) => group.isNetwork && isFull(group))) return
      for (const { key } of groups) clients.set(key, (clients.get(key) ?? 0) + 1)
    },
  }
}
