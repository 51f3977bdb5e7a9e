import { hash, randomUUID } from 'node:crypto'
import { type RateLimiterAbstract, RateLimiterMemory, RateLimiterRes } from 'rate-limiter-flexible'
import type { Clock } from '../../../packages/protocol/src/clock.js'
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
  readonly metrics?: Metrics
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
export function createRateLimits(config: RateLimitConfig, clock: Clock, options: RateLimitsOptions = {}) {
  const counts = new Map(
    LIMITS.map((name) => {
      const isGlobal = name === 'global'
      const [limit, windowMs] = isGlobal ? [config.max, config.windowMs] : [config[name], MINUTE_MS]
      return [name, createCount(name, limit, windowMs, clock, options)]
    }),
  )

  /** Does what `consume` does for a request that needs no API key, whatever its limit. */
  async function count(name: LimitName, call: LimitedCall): Promise<void> {
    await counts.get(name)?.(call)
    const { refusal } = call.client
    if (refusal !== undefined) throw new ServiceError('API_KEY_INVALID', refusal)
  }

  return {
    count,
    /**
     * Counts one request and sets the `RateLimit-*` headers of its response.
     * @throws ServiceError RATE_LIMITED with the seconds until the window ends, API_KEY_INVALID or API_KEY_REQUIRED
     */
    async consume(name: LimitName, call: LimitedCall): Promise<void> {
      await count(name, call)
      if (call.client.apiKey === undefined && options.requireApiKey?.has(name))
        throw new ServiceError('API_KEY_REQUIRED', KEY_REQUIRED)
    },
  }
}

/** Builds the count of one limit. */
function createCount(
  name: LimitName,
  limit: number,
  windowMs: number,
  clock: Clock,
  { limiterOf = inMemory, metrics, maxClients = MAX_CLIENTS }: RateLimitsOptions,
) {
  const window = createWindowCounts(limit, windowMs, maxClients, clock)
  /** By their points: the operator may have set those of a key. */
  const limiters = new Map<number, Limiter>()

  function limiterFor(points: number): Limiter {
    const limiter = limiters.get(points) ?? limiterOf(name, points, windowMs)
    limiters.set(points, limiter)
    return limiter
  }

  /** @param of the clients that share the limit @throws ServiceError RATE_LIMITED */
  function reject(call: LimitedCall, points: number, of: string, count: Count): never {
    const { apiKey } = call.client
    metrics?.rateLimited.inc({ limit: name })
    if (apiKey !== undefined) metrics?.keyRejections.inc({ key: apiKey.label, limit: name })
    const retryAfterSeconds = show(call, points, count)
    call.setHeader('retry-after', String(retryAfterSeconds))
    const message = `Too many requests${of}: at most ${points} in this window, try again in ${retryAfterSeconds} s.`
    throw new ServiceError('RATE_LIMITED', message, { retryAfterSeconds })
  }

  /** Counts a request at a key that has its own count, or that clients share. @throws ServiceError RATE_LIMITED */
  async function countAt(key: string, call: LimitedCall, points: number, of = ''): Promise<RateLimiterRes> {
    try {
      const count = await limiterFor(points).consume(key)
      show(call, points, count)
      return count
    } catch (thrown) {
      if (!(thrown instanceof RateLimiterRes)) throw thrown
      return reject(call, points, of, thrown)
    }
  }

  /** API keys are few, so that each has its own count. */
  async function countApiKey({ label, limits }: ClientKey, call: LimitedCall): Promise<void> {
    const labels = { key: label, limit: name }
    metrics?.keyRequests.inc(labels)
    // The first rejection shows as an increase.
    metrics?.keyRejections.inc(labels, 0)
    const points = limits[name] ?? limit * KEY_FACTOR
    if (points > 0) await countAt(call.client.key, call, points, ' with this API key')
  }

  async function countAddress(call: LimitedCall): Promise<void> {
    const { client } = call
    window.beginWhenDue()
    const sharedKey = window.sharedKeyOf(client)
    // A client that came before counts were shared keeps its own count.
    const isOwn = sharedKey === undefined || (await limiterFor(limit).get(client.key)) !== null
    const full = window.fullNetwork(client)
    if (full !== undefined) {
      const count = { remainingPoints: 0, msBeforeNext: window.msUntilEnd() }
      reject(call, window.limitOf(full), ` of this IPv6 /${full.prefixLength}`, count)
    }
    if (!isOwn) return void (await countAt(sharedKey, call, limit))
    window.charge(client, 1)
    try {
      const { isFirstInDuration } = await countAt(client.key, call, limit)
      if (isFirstInDuration) window.addClient(client)
    } catch (thrown) {
      window.charge(client, -1)
      throw thrown
    }
  }

  return async (call: LimitedCall): Promise<void> => {
    const { apiKey } = call.client
    if (apiKey !== undefined) await countApiKey(apiKey, call)
    else if (limit > 0) await countAddress(call)
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
function createWindowCounts(limit: number, windowMs: number, maxClients: number, clock: Clock) {
  const requests = new Map<string, number>()
  /** The new clients by IP version, region and IPv6 /48. */
  const clients = new Map<string, number>()
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
      if (clock.monotonic() < end) return
      end = clock.monotonic() + windowMs
      requests.clear()
      clients.clear()
    },
    msUntilEnd: (): number => Math.max(0, end - clock.monotonic()),
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
