import type { Clock, Timer } from '../../../protocol/src/clock.js'
import { sessionMessage } from '../../../protocol/src/solvers/registration-messages.js'
import { type Address, type Hex, lowerCase } from '../../../protocol/src/values/hex.js'
import { type ConnectionOptions, openConnection, type SessionConnection } from './session-connection.js'
import type { SessionError } from './session-error.js'
import type { SessionReady } from './session-messages.js'

export interface SolverSessionOptions extends Pick<ConnectionOptions, 'answer' | 'onError' | 'onResult'> {
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
  /** Called each time that the session is open, with the base URL. */
  readonly onReady?: (ready: SessionReady, serviceUrl: string) => void
  /** Called when the session has ended or could not be opened. It is opened again unless `error.isFinal`. */
  readonly onLost: (error: SessionError) => void
  readonly clock: Pick<Clock, 'setTimeout'>
  /** Gives numbers of 0 to 1. */
  readonly random: () => number
}

const FIRST_LIMIT_MS = 100
const LAST_LIMIT_MS = 30_000
/** A session that lasts so long starts the back-off again. */
const LASTING_MS = 60_000
/** One that the instance has sent away stays for a moment beside the next one. */
const MAX_CONNECTIONS = 2

/** The time before an attempt to connect, with full jitter, so that many solvers do not come at once. @param random 0 to 1 */
export function backoffMs(attempts: number, random: number): number {
  return random * Math.min(FIRST_LIMIT_MS * 2 ** attempts, LAST_LIMIT_MS)
}

/** Opens a session of a solver with an instance (docs/sessions.md), and opens it again after each loss, with a back-off. */
export function openSolverSession(options: SolverSessionOptions) {
  const { serviceUrls, clock, random } = options
  let dialled = 0
  /** The attempts since the last session that lasted. */
  let attempts = 0
  /** The oldest first. */
  const open = new Set<SessionConnection>()
  let current: SessionConnection | undefined
  let timer: Timer | undefined
  let hasBeenReady = false
  let isClosed = false

  async function hello(nonce: Hex, audience: string): Promise<string> {
    const { account, name, chainIds, protocolName } = options
    const address = lowerCase(account.address)
    // The audience is configured: an instance that passes the challenge of another one on gets no use of this signature.
    const text = { address, name, audience, chainIds }
    const message = sessionMessage(protocolName, { ...text, nonce })
    const signature = await account.signMessage({ message })
    return JSON.stringify({ type: 'hello', ...text, signature })
  }

  function connect(): void {
    let resetTimer: Timer | undefined
    for (const old of [...open].slice(0, 1 - MAX_CONNECTIONS)) old.destroy()
    const serviceUrl = serviceUrls[dialled++ % serviceUrls.length] as string
    const { href, origin } = new URL(serviceUrl)
    const connection = openConnection({
      ...options,
      url: `${href.replace(/^http/, 'ws').replace(/\/$/, '')}/v1/solvers/session`,
      mayBeOffered: hasBeenReady || serviceUrls.length > 1,
      hello: (nonce) => hello(nonce, origin),
      onReady(ready) {
        // An instance that always ends sessions at once is not asked more often for it.
        resetTimer = clock.setTimeout(() => {
          attempts = 0
        }, LASTING_MS)
        hasBeenReady = true
        options.onReady?.(ready, serviceUrl)
      },
      onGoAway(withinMs) {
        if (current !== connection) return
        current = undefined
        // An instance that sends each connection away at once is dialled no more often than one that cannot be reached.
        connectAfter(Math.max(backoffMs(attempts++, random()), random() * withinMs))
      },
      onClosed(error) {
        resetTimer?.stop()
        open.delete(connection)
        if (isClosed || current !== connection) return
        current = undefined
        if (!error.isFinal) connectAfter(backoffMs(attempts++, random()))
        options.onLost(error)
      },
    })
    current = connection
    open.add(connection)
  }

  function connectAfter(ms: number): void {
    timer = clock.setTimeout(connect, ms)
  }

  connect()
  return {
    /** Ends it for good. @returns when no connection is open */
    async close(): Promise<void> {
      isClosed = true
      timer?.stop()
      await Promise.all([...open].map((connection) => connection.close()))
    },
  }
}
