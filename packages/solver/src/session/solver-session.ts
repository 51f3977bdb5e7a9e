import { pauseMs } from '../../../client/src/calls/retry-delay.js'
import type { Timer } from '../../../protocol/src/clock.js'
import { sessionMessage } from '../../../protocol/src/solvers/registration-messages.js'
import { type Hex, lowerCase } from '../../../protocol/src/values/hex.js'
import { chainIdsOf, type SolverParts, serviceUrlsOf } from '../solver-parts.js'
import {
  openConnection,
  type SessionAnswers,
  type SessionConnection,
  SessionError,
} from './session-connection.js'

/** A session that lasts so long starts the back-off again. */
const LASTING_MS = 60_000
/** One that the instance has sent away stays for a moment beside the next one. */
const MAX_CONNECTIONS = 2

/**
 * Opens a session of a solver with an instance (docs/sessions.md), and opens it again after each loss, with a back-off. After a loss, the
 * next URL is dialled.
 * @param random gives numbers of 0 to 1
 */
export function openSolverSession(parts: SolverParts, answers: SessionAnswers, random = Math.random) {
  const { options, account, clock, metrics, log, hooks, signal } = parts
  const { name, protocolName } = options
  const serviceUrls = serviceUrlsOf(options)
  let dialled = 0
  /** The attempts since the last session that lasted. */
  let attempts = 0
  /** The oldest first. */
  const open = new Set<SessionConnection>()
  let current: SessionConnection | undefined
  let timer: Timer | undefined
  let resolve = () => {}
  let reject: (error: SessionError) => void = () => {}
  const opened = new Promise<void>((...ends) => {
    ;[resolve, reject] = ends
  })

  /** The audience is configured: an instance that passes the challenge of another one on gets no use of this signature. */
  async function hello(nonce: Hex, audience: string): Promise<object> {
    const text = { address: lowerCase(account.address), name, audience, chainIds: chainIdsOf(options) }
    const message = sessionMessage(protocolName, { ...text, nonce })
    return { type: 'hello', ...text, signature: await account.signMessage({ message }) }
  }

  function connect(): void {
    let resetTimer: Timer | undefined
    for (const old of [...open].slice(0, 1 - MAX_CONNECTIONS)) old.destroy()
    const url = serviceUrls[dialled++ % serviceUrls.length] as string
    const { href, origin } = new URL(url)
    const socketUrl = `${href.replace(/^http/, 'ws').replace(/\/$/, '')}/v1/solvers/session`
    const connection = openConnection(parts, socketUrl, {
      ...answers,
      mayBeOffered: metrics.sessionsOpened > 0 || serviceUrls.length > 1,
      hello: (nonce) => hello(nonce, origin),
      onReady(sessionId) {
        // An instance that always ends sessions at once is not asked more often for it.
        resetTimer = clock.setTimeout(() => {
          attempts = 0
        }, LASTING_MS)
        metrics.sessionsOpened++
        metrics.sessionOpen = 1
        log.info({ url: origin, sessionId }, 'session open')
        hooks.onSession({ state: 'open', url, sessionId })
        resolve()
      },
      onGoAway(withinMs) {
        if (current !== connection) return
        current = undefined
        // An instance that sends each connection away at once is dialled no more often than one that cannot be reached.
        connectAfter(Math.max(backoffMs(), random() * withinMs))
      },
      onClosed(error) {
        resetTimer?.stop()
        open.delete(connection)
        if (signal.aborted || current !== connection) return
        current = undefined
        const { code, isFinal } = error
        metrics.sessionsLost++
        metrics.sessionOpen = 0
        log.warn({ why: error.message, isFinal }, 'session lost')
        hooks.onSession({ state: 'lost', error, code, isFinal })
        if (isFinal) reject(error)
        else connectAfter(backoffMs())
      },
    })
    current = connection
    open.add(connection)
  }

  /** Before an attempt to connect: many solvers must not come at once. */
  const backoffMs = () => pauseMs(attempts++, undefined, random())

  function connectAfter(ms: number): void {
    timer = clock.setTimeout(connect, ms)
  }

  connect()
  return {
    /** Resolves when a session is open. It rejects with the SessionError of a final loss before that, and when it is closed. */
    opened,
    /** Ends it, after the signal has aborted. @returns when no connection is open */
    async close(): Promise<void> {
      reject(new SessionError('the solver was closed'))
      timer?.stop()
      await Promise.all([...open].map((connection) => connection.close()))
    },
  }
}
