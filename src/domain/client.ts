import type { KeyLimits } from './api-key.js'
import type { Address } from './values/hex.js'

/** The protocol of a call, as metrics name it. */
export type Protocol = 'rest' | 'connect' | 'grpc' | 'grpc-web' | 'websocket' | 'sse'

/** One call of a client, over any protocol. What needs a part of it takes a `Pick`. */
export interface CallContext {
  readonly protocol: Protocol
  readonly requestId: string
  readonly client: ClientId
  /** The value of the request's `Host` or `:authority`. */
  readonly host: string
  /** Aborted when the client cancels its request or loses its connection. */
  readonly signal: AbortSignal
  /** The client's own deadline in milliseconds from the start of the call; undefined without one. */
  readonly timeoutMs: number | undefined
  /** The `traceparent` that it sent for its solvers (W3C Trace Context). */
  readonly traceparent?: string | undefined
  /** Sets a header of the response. A name in lower case takes less time. */
  setHeader(name: string, value: string): void
  /** Adds the result of a quote to the log's line of the request. */
  recordQuote(quote: QuoteSummary): void
  /** Whether everything that was sent has left this process. */
  isDrained(): boolean
  /** Ends the connection, or on HTTP/2 the stream, of a client that does not read. */
  abandon(): void
}

/** The result of a quote in the log's line of its request. */
export interface QuoteSummary {
  readonly quoteId: string
  /** The solver of the best offer. */
  readonly winner: Address
  /** Number of valid offers. */
  readonly offers: number
}

/**
 * The client of a request, as everything counts it that limits or compares clients: an API key (docs/decisions.md, D27), or else an
 * IPv4 address or an IPv6 /64 with the networks around it (docs/decisions.md, D8).
 */
export interface ClientId {
  /** An IPv4-mapped IPv6 address has the key of the IPv4 address. */
  readonly key: string
  /** IP address of the connection's other end, or what a trusted proxy says of it. */
  readonly address: string
  /** Undefined for a client without a valid API key. */
  readonly apiKey?: ClientKey | undefined
  /** Why the API key of the request is refused, as a sentence; undefined for a request without one, or with a valid one. */
  readonly refusal?: string | undefined
  /** The widest network that one person may own: an IPv4 address, an IPv6 /48 or an API key. */
  readonly network: string
  /** The /56 and the /48 around an IPv6 client, which one person may own entirely; empty for every other client. */
  readonly networks: readonly ClientNetwork[]
  /** The IPv6 /32 or the IPv4 /16 around the client, which one provider owns; an API key has its own. */
  readonly region: string
  readonly isIpv6: boolean
  /** Whether strangers on the internet cannot have it: an API key, or an address of this machine or of a private network. */
  readonly isPrivate: boolean
}

/** A valid API key, as limits and logs need it. */
export interface ClientKey {
  readonly label: string
  /** What the operator has set. */
  readonly limits: KeyLimits
  /** Aborts with a ServiceError when the key is no longer valid. */
  readonly ended: AbortSignal
}

/** An IPv6 network that has a limit of its own (docs/decisions.md, D14). */
export interface ClientNetwork {
  readonly key: string
  readonly prefixLength: 56 | 48
}

/** Limit of a network, as a multiple of one client's limit. */
export const NETWORK_FACTORS: Readonly<Record<ClientNetwork['prefixLength'], number>> = { 56: 4, 48: 16 }

/** The process itself, as a subscriber of its own log. */
export const THIS_PROCESS: ClientId = {
  key: '',
  address: '',
  network: '',
  networks: [],
  region: '',
  isIpv6: false,
  isPrivate: true,
}

/** The limit that rejects a client: its own, that of a network or the region around it, or that of all clients. */
export type CountLimit = 'client' | ClientNetwork | 'region' | 'total'

/** A network or a region may hold this part of the total. */
const MAX_PART = 1 / 4

interface ClientCountsOptions {
  /** Number that one client may hold; 0 turns off the limits of clients, networks and regions. */
  readonly perClient: number
  /** Number that all clients may hold together. */
  readonly total: number
  /** The limit of an API key: its own one of this name, or else a multiple of a client's limit; that itself when undefined. */
  readonly ofKeys?: { readonly name: keyof KeyLimits; readonly factor: number }
}

/**
 * Counts what clients hold at the moment, such as stream slots. A network may hold a multiple of a client's limit. A
 * network or a region holds at most a quarter of the total, so that no owner of many addresses can take all of it. A
 * region of private addresses has no limit: strangers cannot have these addresses, and a whole company may share one /16.
 * The memory grows only with the number held.
 */
export class ClientCounts {
  readonly #perClient: number
  readonly #total: number
  readonly #ofKeys: ClientCountsOptions['ofKeys']
  readonly #counts = new Map<string, number>()
  #held = 0

  constructor({ perClient, total, ofKeys }: ClientCountsOptions) {
    this.#perClient = perClient
    this.#total = total
    this.#ofKeys = ofKeys
  }

  /** Number that all clients hold. */
  get held(): number {
    return this.#held
  }

  /** The limit that one more for this client would exceed, if any. */
  fullAt(client: ClientId): CountLimit | undefined {
    if (this.#held >= this.#total) return 'total'
    const limit = this.limitOfClient(client)
    if (limit === 0) return undefined
    if (this.#heldBy(client.key) >= limit) return 'client'
    const network = client.networks.find((each) => this.isFull(each))
    if (network !== undefined) return network
    return isRegionLimited(client) && this.#heldBy(client.region) >= this.maxOfRegion ? 'region' : undefined
  }

  /** Number that this client may hold; 0 is no limit. */
  limitOfClient({ apiKey }: ClientId): number {
    if (apiKey === undefined || this.#ofKeys === undefined) return this.#perClient
    return apiKey.limits[this.#ofKeys.name] ?? this.#perClient * this.#ofKeys.factor
  }

  isFull(network: ClientNetwork): boolean {
    return this.#heldBy(network.key) >= this.limitOf(network)
  }

  /** Number that one network may hold. */
  limitOf({ prefixLength }: ClientNetwork): number {
    return Math.min(this.#perClient * NETWORK_FACTORS[prefixLength], this.maxOfRegion)
  }

  /** Number that one region may hold; at least the limit of one client. */
  get maxOfRegion(): number {
    return Math.max(this.#perClient, Math.floor(this.#total * MAX_PART))
  }

  add(client: ClientId): void {
    this.#held++
    this.#change(client, 1)
  }

  /** Undoes one `add` of the same client. */
  remove(client: ClientId): void {
    this.#held--
    this.#change(client, -1)
  }

  #heldBy(key: string): number {
    return this.#counts.get(key) ?? 0
  }

  #change(client: ClientId, by: number): void {
    this.#set(client.key, this.#heldBy(client.key) + by)
    for (const network of client.networks) this.#set(network.key, this.#heldBy(network.key) + by)
    if (isRegionLimited(client)) this.#set(client.region, this.#heldBy(client.region) + by)
  }

  #set(key: string, count: number): void {
    if (count === 0) this.#counts.delete(key)
    else this.#counts.set(key, count)
  }
}

function isRegionLimited({ region, isPrivate }: ClientId): boolean {
  return region !== '' && !isPrivate
}
