import { type Address, type Hex, lowerCase } from '../../../../src/domain/hex.js'
import { sessionMessage } from '../../../../src/domain/registration-messages.js'
import { createBackoff } from './backoff.js'
import { openConnection, type SessionConnection, type SessionTiming } from './session-connection.js'
import type { SessionError } from './session-error.js'
import type {
  SessionAnswer,
  SessionOrderEvent,
  SessionReady,
  SessionRequest,
  SessionResult,
} from './session-messages.js'

/** A solver's session with an instance (docs/sessions.md). */
export interface SolverSession {
  /** Ends it for good. @returns when no connection is open */
  close(): Promise<void>
}

export interface SolverSessionOptions {
  /**
   * Base URLs of the replicas of an instance, or of the instances of one operator, such as `https://quotes.example`. After a
   * loss, the next one is dialled. The origin of each is the audience that the solver signs there.
   */
  readonly serviceUrls: readonly [string, ...string[]]
  /** Signs with EIP-191. An account of viem fits. */
  readonly account: { readonly address: Address; signMessage(text: { message: string }): Promise<Hex> }
  /** Display name, 1 to 64 visible characters. */
  readonly name: string
  readonly chainIds: readonly number[]
  /** The instance's PROTOCOL_NAME. */
  readonly protocolName: string
  /** Where the events of the solver's orders begin. No events when it is left out. */
  readonly events?: { readonly after?: string }
  /** Answers a quote request. What it throws becomes a decline, and goes to `onError`. */
  readonly answer: (request: SessionRequest) => SessionAnswer | Promise<SessionAnswer>
  /** Called each time that the session is open, with the base URL. */
  readonly onReady?: (ready: SessionReady, serviceUrl: string) => void
  readonly onResult?: (result: SessionResult) => void
  /** Called with one event after the other. The session continues after the last one that it has returned from. */
  readonly onEvent?: (event: SessionOrderEvent, cursor: string) => void | Promise<void>
  /** Called when the session has ended or could not be opened. It is opened again unless `error.isFinal`. */
  readonly onLost: (error: SessionError) => void
  /** Called with what `answer`, `onEvent` or the account has thrown. */
  readonly onError: (error: unknown) => void
}

const SYSTEM_TIMING: SessionTiming = {
  startTimer(action, ms) {
    const timer = setTimeout(action, ms)
    return () => clearTimeout(timer)
  },
  random: Math.random,
}

/** Opens a session, and opens it again after each loss, with a back-off. */
export function openSolverSession(
  options: SolverSessionOptions,
  { startTimer, random }: SessionTiming = SYSTEM_TIMING,
): SolverSession {
  const { onError, serviceUrls } = options
  let dialled = 0
  const backoff = createBackoff(random)
  /** Those that an instance has sent away may stay for a moment while the next one is open. */
  const open = new Set<SessionConnection>()
  let current: SessionConnection | undefined
  let stopTimer = () => {}
  let after = options.events?.after
  let processing = Promise.resolve()
  let isClosed = false

  async function hello(nonce: Hex, audience: string): Promise<string> {
    const { account, name, chainIds, protocolName, events } = options
    const address = lowerCase(account.address)
    // The audience is configured: an instance that passes the challenge of another one on gets no use of this signature.
    const text = { address, name, audience, chainIds }
    const message = sessionMessage(protocolName, { ...text, nonce })
    const signature = await account.signMessage({ message })
    return JSON.stringify({ type: 'hello', ...text, signature, ...(events && { events: { after } }) })
  }

  /** Events are processed one after the other, over all connections. */
  function processEvent(event: SessionOrderEvent, cursor: string): void {
    processing = processing.then(async () => {
      if (isClosed) return
      try {
        await options.onEvent?.(event, cursor)
      } catch (error) {
        onError(error)
      }
      after = cursor
    })
  }

  function connect(): void {
    let stopReset = () => {}
    const serviceUrl = serviceUrls[dialled++ % serviceUrls.length] as string
    const { href, origin } = new URL(serviceUrl)
    const connection = openConnection({
      ...options,
      url: `${href.replace(/^http/, 'ws').replace(/\/$/, '')}/v1/solvers/session`,
      startTimer,
      hello: (nonce) => hello(nonce, origin),
      onResult: (result) => options.onResult?.(result),
      onEvent: processEvent,
      onReady(ready) {
        // An instance that always ends sessions at once is not asked more often for it.
        stopReset = startTimer(backoff.reset, ready.heartbeatMs)
        // Events from now on: those between a loss before the first one and the next session come as well.
        after ||= ready.cursor
        options.onReady?.(ready, serviceUrl)
      },
      onGoAway(withinMs) {
        if (current !== connection) return
        current = undefined
        connectAfter(random() * withinMs)
      },
      onClosed(error) {
        stopReset()
        open.delete(connection)
        if (isClosed || current !== connection) return
        current = undefined
        // The log has no such place any more. All events that it has come again, so that none is missed.
        if (error.code === 'CURSOR_UNKNOWN') after = 'earliest'
        if (!error.isFinal) connectAfter(backoff.next())
        options.onLost(error)
      },
    })
    current = connection
    open.add(connection)
  }

  function connectAfter(ms: number): void {
    stopTimer = startTimer(connect, ms)
  }

  connect()
  return {
    async close() {
      isClosed = true
      stopTimer()
      await Promise.all([...open].map((connection) => connection.close()))
      await processing
    },
  }
}
