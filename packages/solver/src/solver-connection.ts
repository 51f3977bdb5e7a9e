import type { SolverParts } from './chain-parts.js'
import type { ChainRun } from './chain-run.js'
import type { SolverMetrics } from './metrics.js'
import { createOnceAMinute } from './once-a-minute.js'
import type { Quoting } from './quoting.js'
import { SessionError } from './session/session-error.js'
import type { SessionReady, SessionResult } from './session/session-messages.js'
import { openSolverSession } from './session/solver-session.js'
import type { SolverOptions } from './solver-options.js'

interface ConnectionOptions
  extends Omit<SolverParts, 'limits' | 'onDeposit' | 'onFilled' | 'signal' | 'state'>,
    Pick<SolverOptions, 'onSession' | 'onResult' | 'name'> {
  readonly serviceUrls: readonly [string, ...string[]]
  readonly chainIds: readonly number[]
  readonly chains: ReadonlyMap<number, ChainRun>
  readonly quoting: Quoting
}

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

/** Connects a solver by a session, which is opened again after each loss. Events of its orders there make it look at its nodes sooner. */
export function connectBySession(options: ConnectionOptions) {
  const { chains, quoting, metrics, log } = options
  const isDue = createOnceAMinute(options.clock)
  let setOpened = () => {}
  let setRefused = (_error: Error) => {}
  const opened = new Promise<void>((resolve, reject) => {
    setOpened = resolve
    setRefused = reject
  })

  function onEvent(): void {
    for (const { wake } of chains.values()) wake()
  }

  function onResult(result: SessionResult): void {
    const counter = COUNTERS[result.outcome]
    if (counter !== undefined) metrics[counter]++
    if (result.rank === 1) metrics.offersBest++
    if (counter === 'offersDropped' && isDue(result.outcome)) log.warn({ ...result }, 'offer dropped')
    options.onResult?.(result)
  }

  const sessionOptions = {
    ...options,
    answer: quoting,
    onEvent,
    onResult,
    onReady({ sessionId }: SessionReady, url: string) {
      metrics.sessionsOpened++
      metrics.sessionOpen = 1
      log.info({ url, sessionId }, 'session open')
      options.onSession?.({ state: 'open', url, sessionId })
      setOpened()
    },
    onLost(error: SessionError) {
      metrics.sessionsLost++
      metrics.sessionOpen = 0
      const { code, isFinal } = error
      log.warn({ err: error, isFinal }, 'session lost')
      options.onSession?.({ state: 'lost', error, code, isFinal })
      if (isFinal) setRefused(error)
    },
  }
  const session = openSolverSession(sessionOptions, { clock: options.clock, random: Math.random })
  // After the start, a final loss goes to `onSession` only.
  opened.catch(() => {})
  return {
    /** Resolves when a session is open; rejects when none will ever be. */
    opened,
    async close() {
      setRefused(new SessionError('the solver was closed'))
      await session.close()
    },
  }
}
