import type { SolverMetrics } from './metrics.js'
import { createOnceAMinute } from './once-a-minute.js'
import type { Quoting } from './quoting/quoting.js'
import { SessionError } from './session/session-error.js'
import type { SessionResult } from './session/session-messages.js'
import { openSolverSession, type SolverSessionOptions } from './session/solver-session.js'
import { guarded, type Shared } from './start-solver.js'

/** What counts each outcome. The kit counts its own declines. */
const COUNTERS: Readonly<Record<string, keyof SolverMetrics | undefined>> = {
  QUOTED: 'offersValid',
  INVALID: 'offersDropped',
  LATE: 'offersDropped',
  SOFT_DEADLINE: 'offersDropped',
  FAILED: 'requestsFailed',
  CANCELLED: 'requestsCancelled',
  CIRCUIT_OPEN: 'requestsCircuitOpen',
}

/**
 * Connects a solver by a session, which is opened again after each loss.
 * @returns when a session is open; after that, a final loss goes to `onSession` only
 * @throws SessionError when none will ever be
 */
export function connectBySession(shared: Shared, quoting: Quoting): Promise<void> {
  const { options, metrics, log, clock, parts, onError } = shared
  const isDue = createOnceAMinute(clock)
  const tellResult = guarded(options.onResult, onError)
  const tellSession = guarded(options.onSession, onError)

  function onResult(result: SessionResult): void {
    const counter = COUNTERS[result.outcome]
    if (counter !== undefined) metrics[counter]++
    if (result.rank === 1) metrics.offersBest++
    if (counter === 'offersDropped' && isDue(result.outcome)) log.warn({ ...result }, 'offer dropped')
    tellResult(result)
  }

  return new Promise((resolve, reject) => {
    const sessionOptions: SolverSessionOptions = {
      ...shared,
      name: options.name,
      answer: (request) => quoting(request, 'SESSION'),
      onResult,
      onReady({ sessionId }, url) {
        metrics.sessionsOpened++
        metrics.sessionOpen = 1
        log.info({ url: new URL(url).origin, sessionId }, 'session open')
        tellSession({ state: 'open', url, sessionId })
        resolve()
      },
      onLost(error) {
        metrics.sessionsLost++
        metrics.sessionOpen = 0
        const { code, isFinal } = error
        log.warn({ err: error, isFinal }, 'session lost')
        tellSession({ state: 'lost', error, code, isFinal })
        if (isFinal) reject(error)
      },
    }
    const session = openSolverSession(sessionOptions, { clock, random: Math.random })
    parts.push(async () => {
      reject(new SessionError('the solver was closed'))
      await session.close()
    })
  })
}
