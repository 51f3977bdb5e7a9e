import type { SolverMetrics } from './metrics.js'
import { createOnceAMinute } from './once-a-minute.js'
import { type Quoting, toPublic } from './quoting/quoting.js'
import type { IncomingRequest } from './session/request-terms.js'
import { SessionError } from './session/session-error.js'
import type { SessionAnswer, SessionResult } from './session/session-messages.js'
import { openSolverSession } from './session/solver-session.js'
import type { AnswerResult, SolverOptions } from './solver-options.js'
import type { SolverParts } from './solver-parts.js'

/** What is known of a request whose result is not. */
type Known = Pick<AnswerResult, 'request' | 'inputAmount' | 'outputAmount' | 'decline'>

const NOTHING = { request: undefined, inputAmount: undefined, outputAmount: undefined, decline: undefined }
/** Of so many requests at most it is kept: results come within seconds. */
const MAX_LATELY = 1_000

/** What counts each outcome. The kit counts its own declines. */
const COUNTERS: Readonly<Record<string, Exclude<keyof SolverMetrics, 'feesWei'> | undefined>> = {
  QUOTED: 'offersValid',
  INVALID: 'offersDropped',
  LATE: 'offersDropped',
  SOFT_DEADLINE: 'offersDropped',
  FAILED: 'requestsFailed',
  CANCELLED: 'requestsCancelled',
  CIRCUIT_OPEN: 'requestsCircuitOpen',
}

/** The base URLs of an instance. */
export const serviceUrlsOf = ({ aggregatorUrl }: SolverOptions) =>
  [aggregatorUrl].flat() as [string, ...string[]]
export const chainIdsOf = ({ chains }: SolverOptions) => Object.keys(chains).map(Number)

/**
 * Connects a solver by a session, which is opened again after each loss.
 * @param ends gets the end of it
 * @returns when a session is open; after that, a final loss goes to `onSession` only
 * @throws SessionError when none will ever be
 */
export function connectBySession(
  parts: SolverParts,
  quoting: Quoting,
  ends: (() => Promise<void> | void)[],
): Promise<void> {
  const { options, account, metrics, log, hooks, clock, onError } = parts
  const isDue = createOnceAMinute(clock)
  /** What was asked, by id, the oldest first. */
  const lately = new Map<string, Known>()

  function onResult(result: SessionResult): void {
    const counter = COUNTERS[result.outcome]
    if (counter !== undefined) metrics[counter]++
    if (result.rank === 1) metrics.offersBest++
    if (counter === 'offersDropped' && isDue(result.outcome)) log.warn({ ...result }, 'offer dropped')
    const known = lately.get(result.id) ?? NOTHING
    lately.delete(result.id)
    hooks.onResult({ ...result, ...known })
  }

  async function answer(request: IncomingRequest): Promise<SessionAnswer> {
    const id = request.id ?? ''
    const [oldest] = lately.keys()
    if (lately.size >= MAX_LATELY && oldest !== undefined) lately.delete(oldest)
    const known = { ...NOTHING, request: toPublic(request) }
    lately.set(id, known)
    const answered = await quoting(request, 'SESSION')
    if ('decline' in answered) Object.assign(known, answered)
    else {
      const { inputAmount, outputAmount } = answered.quote
      Object.assign(known, { inputAmount, outputAmount })
    }
    return answered
  }

  return new Promise((resolve, reject) => {
    const { name, protocolName } = options
    const session = openSolverSession({
      ...{ account, clock, name, protocolName, onError },
      serviceUrls: serviceUrlsOf(options),
      chainIds: chainIdsOf(options),
      random: Math.random,
      answer,
      onResult,
      onReady({ sessionId }, url) {
        metrics.sessionsOpened++
        metrics.sessionOpen = 1
        log.info({ url: new URL(url).origin, sessionId }, 'session open')
        hooks.onSession({ state: 'open', url, sessionId })
        resolve()
      },
      onLost(error) {
        metrics.sessionsLost++
        metrics.sessionOpen = 0
        const { code, isFinal } = error
        log.warn({ why: error.message, isFinal }, 'session lost')
        hooks.onSession({ state: 'lost', error, code, isFinal })
        if (isFinal) reject(error)
      },
    })
    ends.push(async () => {
      reject(new SessionError('the solver was closed'))
      await session.close()
    })
  })
}
