import { setTimeout as delay } from 'node:timers/promises'
import { DECLINE_CODES } from '../../domain/solvers/solver-result.js'
import { EITHER, judge, judgeAll } from '../judge.js'
import { type Finding, fail, pass, warn } from '../report.js'
import { HEARTBEAT_MS, type SessionHost } from '../session-host.js'
import { type CertifyCase, type RequestChange, randomAddress, type Trial, type TrialReply } from '../trial.js'
import { countKinds, thenAsk } from './run-cases.js'

type SessionCase = CertifyCase<SessionHost>

const PONG_WAIT_MS = 3 * HEARTBEAT_MS
/** More than an instance keeps open on one session, 1024. */
const BURST = 1100
const WAVE = 25
const WAVE_MS = 25
const RESTARTS = 3
/** For the connection and the handshake of a solver that has begun in time. */
const DIAL_MS = 500
/** For a solver that connects again only after its connection has ended. */
const LATE_RECONNECT_MS = 8000
/** Shares of the time in which a solver may connect again. A random choice is hardly ever this early, or this regular. */
const EARLY_SHARE = 0.05
const SPREAD_SHARE = 0.02

const heartbeat: SessionCase = {
  name: 'heartbeat',
  title: 'a pong to each ping',
  async run({ signal }, host) {
    const hasPong = () => (host.current()?.pongs ?? 0) > 0
    if (await host.until(hasPong, PONG_WAIT_MS, signal)) return pass('The solver answers pings.')
    return fail(
      'The solver answered no ping: send pong with the id of each ping. Two unanswered ones end the session.',
    )
  },
}

const declineCodes: SessionCase = {
  name: 'decline-codes',
  title: 'declines carry a code of the list',
  async run(trial) {
    const tokens = { inputToken: randomAddress(), outputToken: randomAddress() }
    const reply = await trial.requestQuote({ fields: tokens })
    const { result } = reply
    const found = judge(reply, EITHER)
    if (result.kind !== 'declined' || !('code' in result)) return found
    if (result.code !== 'OTHER') return pass(`Tokens that do not exist got ${result.code}.`)
    return warn(
      `Tokens that do not exist got OTHER, as which also a code that is not in the list counts. Send one of ${DECLINE_CODES.join(', ')}.`,
    )
  },
}

const malformedRequest: SessionCase = {
  name: 'malformed-request',
  title: 'a malformed request gets a decline, and the session goes on',
  async run(trial) {
    const write = () => '{"inputToken":7,"amount":"1.5"}'
    const reply = await trial.requestQuote({ fields: { amount: 0n }, write })
    const found = judgeMalformed(reply)
    return found.status === 'fail' ? found : thenAsk(trial, 'a malformed request', found)
  },
}

function judgeMalformed(reply: TrialReply): Finding {
  const { kind } = reply.result
  if (kind === 'declined') return pass('It got a decline.')
  if (kind === 'late')
    return warn('It got no answer. Decline requests that you cannot read, with the code OTHER.')
  if (kind === 'failed') return judge(reply, EITHER)
  return fail(
    'A request without tokens and with the amount "1.5" got a quote. Check requests, and decline such ones.',
  )
}

const unknownMessage: SessionCase = {
  name: 'unknown-message',
  title: 'a message of an unknown type is ignored',
  async run(trial, host) {
    const before = host.current()
    before?.connection.sendUnknown()
    const next = judge(await trial.requestQuote(), EITHER)
    if (next.status === 'pass' && host.current() === before) return pass('The session went on.')
    const text =
      'The session did not survive a message of an unknown type. Ignore types that you do not know.'
    return { ...next, status: 'fail', text }
  },
}

const burst: SessionCase = {
  name: 'burst',
  title: `${BURST} requests in about a second, read without a pause`,
  async run(trial) {
    const open: Promise<TrialReply>[] = []
    const fields = { inputToken: randomAddress(), outputToken: randomAddress() }
    while (open.length < BURST) {
      for (let count = 0; count < WAVE; count++) open.push(started(trial, { fields }))
      await Promise.race([delay(WAVE_MS), ended(trial.signal)])
      if (trial.signal.aborted) break
    }
    const replies = await Promise.all(open)
    const found = judgeAll(replies, EITHER)
    if (found.status === 'pass') return pass(`${countKinds(replies)}.`)
    const isSlow = found.problems?.every((problem) => problem === 'late')
    return { ...found, status: isSlow ? 'warn' : 'fail', text: `${countKinds(replies)}. ${found.text}` }
  },
}

/** A request whose reply is awaited later. Its rejection by an interruption waits as well. */
function started(trial: Trial, change?: RequestChange): Promise<TrialReply> {
  const reply = trial.requestQuote(change)
  reply.catch(() => {})
  return reply
}

function ended(signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => signal.addEventListener('abort', () => resolve(), { once: true }))
}

const goAway: SessionCase = {
  name: 'go-away',
  title: `after goAway, a new session at a random moment; ${RESTARTS} times`,
  async run(trial, host) {
    const delays: number[] = []
    let withinMs = 0
    for (let restart = 0; restart < RESTARTS; restart++) {
      const open = started(trial)
      const from = performance.now()
      const old = host.current()
      const { reconnectWithinMs, endOld } = host.restart()
      withinMs = reconnectWithinMs
      const isBack = () => host.current() !== undefined && host.current() !== old
      const isInTime = await host.until(isBack, reconnectWithinMs + DIAL_MS, trial.signal)
      endOld()
      const found = judge(await open, EITHER)
      if (found.status !== 'pass')
        return {
          ...found,
          text: `A request that was open at goAway: ${found.text} Answer it on the old connection.`,
        }
      if (!isInTime)
        return judgeLateReconnect(await host.until(isBack, LATE_RECONNECT_MS, trial.signal), withinMs)
      delays.push((host.current()?.readyAt ?? from) - from)
    }
    return judgeDelays(delays, withinMs)
  },
}

function judgeLateReconnect(isBack: boolean, withinMs: number): Finding {
  if (isBack)
    return warn(
      `The solver connected again only after its connection had ended. After goAway, connect within its ${withinMs} ms, so that you miss no request.`,
    )
  const text = 'The solver did not connect again after goAway. Open a new session within reconnectWithinMs.'
  return fail(text, 'session_ended')
}

function judgeDelays(delays: readonly number[], withinMs: number): Finding {
  const text = `New sessions came after ${delays.map((ms) => `${Math.round(ms)} ms`).join(', ')} of ${withinMs} ms.`
  const isEarly = delays.every((ms) => ms < EARLY_SHARE * withinMs)
  const isRegular = Math.max(...delays) - Math.min(...delays) < SPREAD_SHARE * withinMs
  if (!isEarly && !isRegular) return pass(text)
  return warn(
    `${text} Wait for a random part of reconnectWithinMs: otherwise all solvers come at the same moment.`,
  )
}

/** The solver itself must not have made the service end a session. */
export const noErrors: SessionCase = {
  name: 'no-errors',
  title: 'no session was ended by an error',
  async run(_trial, { ends }) {
    const bad = ends.find(({ reason, wasOpen }) => wasOpen && reason !== 'SHUTTING_DOWN')
    if (bad === undefined) return pass('The service had to end no session.')
    return fail(`The service ended a session with ${bad.reason}: ${bad.message}`)
  },
}

/** The cases of a session, before those of many requests. */
export const sessionCases: readonly SessionCase[] = [
  heartbeat,
  declineCodes,
  malformedRequest,
  unknownMessage,
]

/** The cases of a session after them. */
export const lateSessionCases: readonly SessionCase[] = [burst, goAway]
