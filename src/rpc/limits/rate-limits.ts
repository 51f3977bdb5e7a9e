import ipaddr from 'ipaddr.js'
import { LRUCache } from 'lru-cache'
import { type RateLimiterAbstract, RateLimiterMemory, RateLimiterRes } from 'rate-limiter-flexible'
import type { RateLimitConfig } from '../../config/config.js'
import type { CallContext, ClientId, ClientNetwork } from '../../domain/client.js'
import { ServiceError } from '../../domain/errors.js'
import { WindowCounts } from './window-counts.js'

/** A limit: of one method, of opening streams or solver sessions, or of everything else. */
export type LimitName =
  | 'quote'
  | 'price'
  | 'order'
  | 'register'
  | 'unregister'
  | 'solvers'
  | 'results'
  | 'streams'
  | 'sessions'
  | 'global'

/** What limits need of a call: whom it counts for, and where its response says so. */
export type LimitedCall = Pick<CallContext, 'address' | 'setHeader'>

/** Counts requests by client in fixed windows (docs/decisions.md, D8), and by IPv6 network (docs/decisions.md, D14). */
export interface RateLimits {
  /**
   * Counts one request and sets the `RateLimit-*` headers of its response.
   * @throws ServiceError RATE_LIMITED with the seconds until the window ends
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
  /** Called for every request above a limit. */
  onRejected?(name: LimitName): void
  /** For each limit, the new clients of a window that have their own counts, for IPv4 and IPv6 each. */
  readonly maxClients?: number
}

const MINUTE_MS = 60_000
/** More clients than this share a few counts, so that memory and tables stay bounded. */
const MAX_CLIENTS = 50_000

const inMemory: LimiterOf = (_name, points, windowMs) =>
  new RateLimiterMemory({ points, duration: windowMs / 1000 })

/** Builds the counters; a limit of 0 counts nothing. */
export function createRateLimits(config: RateLimitConfig, options: RateLimitsOptions = {}): RateLimits {
  const { limiterOf = inMemory, onRejected = () => {}, maxClients = MAX_CLIENTS } = options
  const counterOf = (name: LimitName, limit: number, windowMs = MINUTE_MS) =>
    limit === 0
      ? undefined
      : createCounter({
          limiter: limiterOf(name, limit, windowMs),
          limit,
          windowMs,
          maxClients,
          onRejected: () => onRejected(name),
        })
  const counters = {
    quote: counterOf('quote', config.quote),
    price: counterOf('price', config.price),
    order: counterOf('order', config.order),
    register: counterOf('register', config.register),
    unregister: counterOf('unregister', config.unregister),
    solvers: counterOf('solvers', config.solvers),
    results: counterOf('results', config.results),
    streams: counterOf('streams', config.streams),
    sessions: counterOf('sessions', config.sessions),
    global: counterOf('global', config.max, config.windowMs),
  }
  return { consume: async (name, call) => counters[name]?.(call) }
}

interface CounterOptions {
  readonly limiter: Limiter
  readonly limit: number
  readonly windowMs: number
  readonly maxClients: number
  onRejected(): void
}

/** A count in the form of the headers. */
type Count = Pick<RateLimiterRes, 'remainingPoints' | 'msBeforeNext'>

function createCounter(options: CounterOptions) {
  const { limiter, limit, windowMs, maxClients, onRejected } = options
  const window = new WindowCounts({ limit, windowMs, maxClients })
  const { networks, newClients } = window

  function show(call: LimitedCall, points: number, { remainingPoints, msBeforeNext }: Count): number {
    const resetSeconds = Math.ceil(msBeforeNext / 1000)
    call.setHeader('ratelimit-limit', String(points))
    call.setHeader('ratelimit-remaining', String(remainingPoints))
    call.setHeader('ratelimit-reset', String(resetSeconds))
    return resetSeconds
  }

  function reject(call: LimitedCall, points: number, of: string, count: Count): never {
    onRejected()
    const retryAfterSeconds = show(call, points, count)
    call.setHeader('retry-after', String(retryAfterSeconds))
    const message = `Too many requests${of}: at most ${points} in this window, try again in ${retryAfterSeconds} s.`
    throw new ServiceError('RATE_LIMITED', message, { retryAfterSeconds })
  }

  function rejectNetwork(call: LimitedCall, network: ClientNetwork): never {
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
    reject(call, limit, '', result)
  }

  return async (call: LimitedCall): Promise<void> => {
    const id = identifyClient(call.address)
    window.beginWhenDue()
    const sharedKey = newClients.sharedKeyOf(id)
    // A client that came before counts were shared keeps its own count.
    if (sharedKey === undefined || (await limiter.get(id.key)) !== null) await countOwn(id, call)
    else await countShared(sharedKey, id, call)
  }
}

/** Longer than any address. Of other text that a proxy sends as its client, this much counts. */
const MAX_KEY_LENGTH = 64
/** IANA's special ranges for this machine and for networks outside the internet. */
const PRIVATE_RANGES: ReadonlySet<string> = new Set([
  'loopback',
  'private',
  'linkLocal',
  'uniqueLocal',
  'carrierGradeNat',
])
const NO_NETWORKS: readonly ClientNetwork[] = []

const known = new LRUCache<string, ClientId>({ max: 4096 })

/** Identifies a client by its IP address. */
export function identifyClient(address: string): ClientId {
  const found = known.get(address)
  if (found !== undefined) return found
  const client = parseClient(address)
  known.set(address, client)
  return client
}

/**
 * The widest network that one person may own: an IPv4 address, or an IPv6 /48. Circuit breakers count clients by this
 * key.
 */
export function widestKeyOf(address: string): string {
  const { key, networks } = identifyClient(address)
  return networks.at(-1)?.key ?? key
}

function parseClient(address: string): ClientId {
  if (!ipaddr.isValid(address)) {
    const key = address.slice(0, MAX_KEY_LENGTH)
    return { key, networks: NO_NETWORKS, region: '', isIpv6: false, isPrivate: false }
  }
  const parsed = ipaddr.process(address)
  const isPrivate = PRIVATE_RANGES.has(parsed.range())
  const bytes = parsed.toByteArray()
  const prefix = (length: number) => bytes.slice(0, length / 8).join('.')
  if (parsed.kind() === 'ipv4') {
    const region = `${prefix(16)}/16`
    return { key: parsed.toString(), networks: NO_NETWORKS, region, isIpv6: false, isPrivate }
  }
  const networks = ([56, 48] as const).map((prefixLength) => ({
    key: `${prefix(prefixLength)}/${prefixLength}`,
    prefixLength,
  }))
  return { key: prefix(64), networks, region: `${prefix(32)}/32`, isIpv6: true, isPrivate }
}
