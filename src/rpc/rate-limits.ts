import ipaddr from 'ipaddr.js'
import { LRUCache } from 'lru-cache'
import { RateLimiterMemory, RateLimiterRes } from 'rate-limiter-flexible'
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

const MINUTE_MS = 60_000
/** Clients counted one by one in a window. Those beyond share a few counts, so that memory stays bounded. */
const MAX_CLIENTS = 50_000
const SHARED_COUNTS = 64

const clientKeys = new LRUCache<string, string>({ max: 4096 })

/** Builds the counters; a limit of 0 counts nothing. */
export function createRateLimits(config: RateLimitConfig): RateLimits {
  const counters = {
    quote: createCounter(config.quote, MINUTE_MS),
    order: createCounter(config.order, MINUTE_MS),
    register: createCounter(config.register, MINUTE_MS),
    unregister: createCounter(config.unregister, MINUTE_MS),
    solvers: createCounter(config.solvers, MINUTE_MS),
    global: createCounter(config.max, config.windowMs),
  }
  return {
    async consume(name, client) {
      const counter = counters[name]
      if (counter === undefined) return
      const { limit, result, isOver } = await counter(clientKey(client.address))
      const resetSeconds = Math.ceil(result.msBeforeNext / 1000)
      client.setHeader('RateLimit-Limit', String(limit))
      client.setHeader('RateLimit-Remaining', String(result.remainingPoints))
      client.setHeader('RateLimit-Reset', String(resetSeconds))
      if (!isOver) return
      client.setHeader('Retry-After', String(resetSeconds))
      const message = `Too many requests: at most ${limit} in this window, try again in ${resetSeconds} s.`
      throw new ServiceError('RATE_LIMITED', message, { retryAfterSeconds: resetSeconds })
    },
  }
}

function createCounter(limit: number, windowMs: number) {
  if (limit === 0) return undefined
  const limiter = new RateLimiterMemory({ points: limit, duration: windowMs / 1000 })
  let newClients = 0
  let windowEnd = 0

  /** Whether so many clients have come in this window that no further one is counted by itself. */
  function isCrowded(): boolean {
    if (Date.now() >= windowEnd) {
      windowEnd = Date.now() + windowMs
      newClients = 0
    }
    return newClients >= MAX_CLIENTS
  }

  async function crowdedKeyOf(client: string): Promise<string> {
    return (await limiter.get(client)) === null ? `shared ${hash(client) % SHARED_COUNTS}` : client
  }

  /** Counts under a key; a promise of the library's own, since every request waits for it. */
  function count(key: string): Promise<Counted> {
    return limiter.consume(key).then(
      (result) => {
        if (result.isFirstInDuration) newClients++
        return { limit, result, isOver: false }
      },
      (result) => {
        if (result instanceof RateLimiterRes) return { limit, result, isOver: true }
        throw result
      },
    )
  }

  return (client: string): Promise<Counted> =>
    isCrowded() ? crowdedKeyOf(client).then(count) : count(client)
}

/** What came of counting a request. */
interface Counted {
  readonly limit: number
  readonly result: RateLimiterRes
  readonly isOver: boolean
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
  if (!ipaddr.isValid(address)) return address
  const parsed = ipaddr.process(address)
  return parsed.kind() === 'ipv4' ? parsed.toString() : parsed.toByteArray().slice(0, 8).join('.')
}

function hash(text: string): number {
  let value = 0
  for (const character of text) value = (value * 31 + character.charCodeAt(0)) >>> 0
  return value
}
