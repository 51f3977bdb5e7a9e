import { createPublicClient, custom, type PublicClient, type Transport } from 'viem'
import { type Clock, systemClock } from '../../protocol/src/clock.js'
import { createBatcher } from './batcher.js'
import { createHttpExchange } from './http-exchange.js'
import { type CallLimits, CLOSED, createWords, lost, type NodeContext, RpcError } from './json-rpc.js'
import { createWsConnection, type WsConnection } from './ws-connection.js'
import { createWsPool } from './ws-pool.js'

/**
 * Makes one call.
 * @returns the result as the node has sent it, not validated
 * @throws RpcError; the reason of the signal when it ends the call
 */
export type RpcRequest = (
  method: string,
  params?: readonly unknown[],
  options?: Partial<CallLimits>,
) => Promise<unknown>

/** Why other endpoints of the chain replace one. That of another chain gets no calls; the others come last. */
export type EndpointTrouble = 'STANDS_STILL' | 'LAGS' | 'OTHER_CHAIN' | 'NO_ANSWER'

/** One JSON-RPC endpoint. Its type is written out: a package that declares its types cannot name all of viem's that would be inferred. */
export interface Endpoint extends Connection {
  /** The host of its URL. */
  readonly host: string
  /** Whether it has last answered for another chain. Only who verifies it sets this. */
  isOfOtherChain: boolean
  /** What its heads show beside those of other endpoints. Only who compares them sets this. */
  headTrouble: Exclude<EndpointTrouble, 'OTHER_CHAIN'> | undefined
  readonly request: RpcRequest
  /** A client of viem that makes its calls by `request`. */
  readonly client: PublicClient
}

/** Why others take an endpoint's calls; undefined when nothing is known against it. */
export function troubleOf({ isOfOtherChain, headTrouble }: Endpoint): EndpointTrouble | undefined {
  return isOfOtherChain ? 'OTHER_CHAIN' : headTrouble
}

export interface RpcEndpointOptions {
  readonly maxBytes?: number
  readonly timeoutMs?: number
  readonly clock?: Clock
  /**
   * Makes the endpoint one for calls whose answers strangers may shape: each goes alone, on a connection of its own, and more than
   * this number at the same time are refused.
   */
  readonly maxInFlight?: number
  /** Called when a call has ended. */
  readonly onCall?: OnCall
}

/** `refused` is an error of the node in an answer, or an answer that is too long. */
export type OnCall = (method: string, outcome: 'ok' | 'refused' | 'error', seconds: number) => void

const TIMEOUT_MS = 5000
/** A full block of logs must fit, because a call for logs cannot be smaller than one block. 32,000 logs fit. */
const MAX_BYTES = 32 * 1024 * 1024

/** Requests over HTTP that are under way at the same time. A node that is slow gets no more of them for it. */
const MAX_AT_ONCE = 16

interface Connection {
  /** Subscribes to new heads. Undefined when the endpoint is not a WebSocket. */
  readonly subscribeToHeads: WsConnection['subscribeToHeads'] | undefined
  /** Whether the endpoint accepts several calls in one message, as far as its answers show. */
  takesBatches(): boolean
  /** Closes an open WebSocket, if any, and fails its calls. The next call opens another. */
  disconnect(): void
  /** Fails the calls under way, and closes what is open. */
  close(): void
}

/** How calls get to the node. */
interface Line extends Connection {
  readonly call: WsConnection['call']
}

/** Builds an endpoint. @param url http, https, ws or wss, which may have user name and password */
export function createRpcEndpoint(url: string, options: RpcEndpointOptions = {}): Endpoint {
  const { clock = systemClock, maxInFlight = Number.POSITIVE_INFINITY, onCall = () => {} } = options
  const { timeoutMs = TIMEOUT_MS, maxBytes = MAX_BYTES } = options
  const limits = { timeoutMs, maxBytes }
  const isAlone = options.maxInFlight !== undefined
  const open = /^wss?:/i.test(url) ? openSocket : openHttp
  const { call, close, ...line } = open(url, { clock, words: createWords(url), limits }, isAlone)
  const pause = createPause(clock)
  let inFlight = 0
  let isClosed = false

  function assertOpen(): void {
    if (isClosed) throw lost(CLOSED)
    if (inFlight >= maxInFlight) throw new RpcError('refused', `${maxInFlight} calls are under way`)
    pause.assertOver()
  }

  const request: RpcRequest = async (method, params = [], callLimits = {}) => {
    assertOpen()
    const startedAt = clock.monotonic()
    const report = (outcome: Parameters<OnCall>[1]) =>
      onCall(method, outcome, (clock.monotonic() - startedAt) / 1000)
    inFlight++
    try {
      const result = await call({ method, params }, { ...limits, ...callLimits })
      pause.answered()
      report('ok')
      return result
    } catch (error) {
      const failure = error instanceof RpcError ? error : undefined
      if (failure?.isRateLimit) pause.begin(failure)
      if (failure?.kind === 'answered') pause.answered()
      report(failure?.answer !== undefined || failure?.kind === 'too_long' ? 'refused' : 'error')
      throw error
    } finally {
      inFlight--
    }
  }

  return {
    ...line,
    host: new URL(url).host,
    isOfOtherChain: false,
    headTrouble: undefined,
    request,
    client: toPublicClient(request),
    close(): void {
      isClosed = true
      close()
    },
  }
}

/** @param isAlone each call goes alone */
function openHttp(url: string, context: NodeContext, isAlone: boolean): Line {
  const { post, close } = createHttpExchange(url, context, isAlone ? null : MAX_AT_ONCE)
  const { call, callAlone, takesBatches } = createBatcher(post, context)
  const disconnect = () => {}
  return { call: isAlone ? callAlone : call, takesBatches, subscribeToHeads: undefined, disconnect, close }
}

function openSocket(url: string, context: NodeContext, isAlone: boolean): Line {
  const connect = () => createWsConnection(url, context)
  const shared = connect()
  const { call, disconnect } = isAlone ? createWsPool(connect, context.clock) : shared
  const { subscribeToHeads } = shared
  return { call, takesBatches: () => true, subscribeToHeads, disconnect, close: disconnect }
}

/** A transport of viem whose calls go by `request`. viem repeats none of them. */
function toTransport(request: RpcRequest): Transport {
  const provider = {
    request: ({ method, params }: { method: string; params?: readonly unknown[] }) => request(method, params),
  }
  return custom(provider, { retryCount: 0 })
}

/**
 * A client of viem whose calls go by `request`. Reads of ERC-3668 are off: with them, a contract that reverts with `OffchainLookup`
 * has viem request any URL, also one inside of the operator's network.
 */
export function toPublicClient(request: RpcRequest): PublicClient {
  return createPublicClient({ ccipRead: false, transport: toTransport(request) })
}

const FIRST_PAUSE_MS = 1000
const LONGEST_PAUSE_MS = 8000

/** The pause after a node has refused calls because of its limits. */
function createPause(clock: Clock) {
  let until = Number.NEGATIVE_INFINITY
  let backoffMs = FIRST_PAUSE_MS
  let words = ''
  return {
    /** @throws RpcError of kind `refused` while it lasts */
    assertOver(): void {
      const leftMs = until - clock.monotonic()
      if (leftMs <= 0) return
      const message = `the node has refused calls (${words}): none is sent for ${Math.ceil(leftMs / 1000)} s`
      throw new RpcError('refused', message, { isRateLimit: true, retryAfterMs: leftMs })
    },
    /** Begins a pause after a refusal, longer after each one until a call is answered; or lengthens it to what the node asks for. */
    begin({ message, retryAfterMs = 0 }: RpcError): void {
      words = message
      const now = clock.monotonic()
      const isOver = until <= now
      until = Math.max(until, now + retryAfterMs, isOver ? now + backoffMs : now)
      if (isOver) backoffMs = Math.min(backoffMs * 2, LONGEST_PAUSE_MS)
    },
    /** Notes that a call was answered. */
    answered(): void {
      backoffMs = FIRST_PAUSE_MS
    },
  }
}
