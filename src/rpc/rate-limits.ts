import ipaddr from 'ipaddr.js'
import { LRUCache } from 'lru-cache'
import { type RateLimiterAbstract, RateLimiterMemory, RateLimiterRes } from 'rate-limiter-flexible'
import type { RateLimitConfig } from '../config.js'
import { ServiceError } from '../domain/errors.js'

/** What is counted together: a method with a limit of its own, or everything else. */
export type LimitName = 'quote' | 'order' | 'register' | 'unregister' | 'solvers' | 'global'

/** Whoever makes a request, as far as limits go. */
export interface Client {
  /** IP address. */
  readonly address: string
  /** Sets a header of the answer. */
  setHeader(name: string, value: string): void
}

/** Counts requests by client in fixed windows (decisions.md D8). */
export interface RateLimits {
  /**
   * Counts one request and puts the `RateLimit-*` headers on its answer.
   * @throws ServiceError RATE_LIMITED, with the seconds until the window ends
   */
  consume(name: LimitName, client: Client): Promise<void>
}

/** Makes what counts for one limit: so many points for each client, in windows that begin with its first request. */
export type LimiterOf = (
  name: LimitName,
  points: number,
  windowMs: number,
) => Pick<RateLimiterAbstract, 'consume' | 'get'>

interface RateLimitsOptions {
  /** Where counts are kept; this process's memory when undefined. */
  readonly limiterOf?: LimiterOf | undefined
  /** Told of every request that is one too many. */
  onRefused?(name: LimitName): void
  /** New clients of a window that are counted one by one, for each limit. */
  readonly maxClients?: number
}

const MINUTE_MS = 60_000
/** Clients beyond those share a few counts, so that memory and tables stay bounded. */
const MAX_CLIENTS = 50_000
const SHARED_COUNTS = 64
/** Longer than any address: of whatever else a proxy calls its client, so much counts. */
const MAX_KEY_LENGTH = 64

const clientKeys = new LRUCache<string, string>({ max: 4096 })

const inMemory: LimiterOf = (_name, points, windowMs) =>
  new RateLimiterMemory({ points, duration: windowMs / 1000 })

/** Builds the counters; a limit of 0 counts nothing. */
export function createRateLimits(config: RateLimitConfig, options: RateLimitsOptions = {}): RateLimits {
  const { limiterOf = inMemory, onRefused = () => {}, maxClients = MAX_CLIENTS } = options
  const counterOf = (name: LimitName, limit: number, windowMs = MINUTE_MS) =>
    limit === 0
      ? undefined
      : createCounter({
          limiter: limiterOf(name, limit, windowMs),
          limit,
          windowMs,
          maxClients,
          onRefused: () => onRefused(name),
        })
  const counters = {
    quote: counterOf('quote', config.quote),
    order: counterOf('order', config.order),
    register: counterOf('register', config.register),
    unregister: counterOf('unregister', config.unregister),
    solvers: counterOf('solvers', config.solvers),
    global: counterOf('global', config.max, config.windowMs),
  }
  return { consume: (name, client) => counters[name]?.(client) ?? Promise.resolve() }
}

interface CounterOptions {
  readonly limiter: ReturnType<LimiterOf>
  readonly limit: number
  readonly windowMs: number
  readonly maxClients: number
  onRefused(): void
}

function createCounter(options: CounterOptions) {
  const { limiter, limit, windowMs, maxClients, onRefused } = options
  let newClients = 0
  let windowEnd = 0

  /** Whether so many clients have come in this window that no further one is counted by itself. */
  function isCrowded(): boolean {
    if (Date.now() >= windowEnd) {
      windowEnd = Date.now() + windowMs
      newClients = 0
    }
    return newClients >= maxClients
  }

  async function crowdedKeyOf(client: string): Promise<string> {
    return (await limiter.get(client)) === null ? `shared ${hash(client) % SHARED_COUNTS}` : client
  }

  function tell({ setHeader }: Client, { remainingPoints, msBeforeNext }: RateLimiterRes): number {
    const resetSeconds = Math.ceil(msBeforeNext / 1000)
    setHeader('RateLimit-Limit', String(limit))
    setHeader('RateLimit-Remaining', String(remainingPoints))
    setHeader('RateLimit-Reset', String(resetSeconds))
    return resetSeconds
  }

  function refuse(client: Client, result: unknown): never {
    if (!(result instanceof RateLimiterRes)) throw result
    onRefused()
    const retryAfterSeconds = tell(client, result)
    client.setHeader('Retry-After', String(retryAfterSeconds))
    const message = `Too many requests: at most ${limit} in this window, try again in ${retryAfterSeconds} s.`
    throw new ServiceError('RATE_LIMITED', message, { retryAfterSeconds })
  }

  function count(key: string, client: Client): Promise<void> {
    return limiter.consume(key).then(
      (result) => {
        if (result.isFirstInDuration) newClients++
        tell(client, result)
      },
      (result) => refuse(client, result),
    )
  }

  return (client: Client): Promise<void> => {
    const key = clientKey(client.address)
    return isCrowded() ? crowdedKeyOf(key).then((crowded) => count(crowded, client)) : count(key, client)
  }
}

/** IPv6 clients own at least a /64, and count by it; an IPv4 address counts the same in IPv6 clothes. */
function clientKey(address: string): string {
  const known = clientKeys.get(address)
  if (known !== undefined) return known
  const key = parseClientKey(address)
  clientKeys.set(address, key)
  return key
}

function parseClientKey(address: string): string {
  if (!ipaddr.isValid(address)) return address.slice(0, MAX_KEY_LENGTH)
  const parsed = ipaddr.process(address)
  return parsed.kind() === 'ipv4' ? parsed.toString() : parsed.toByteArray().slice(0, 8).join('.')
}

function hash(text: string): number {
  let value = 0
  for (const character of text) value = (value * 31 + character.charCodeAt(0)) >>> 0
  return value
}
