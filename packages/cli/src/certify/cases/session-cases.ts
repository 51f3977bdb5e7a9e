import { HEARTBEAT_MS, type SessionHost } from '../certify-host.js'
import { EITHER, judge } from '../judge.js'
import { type Finding, fail, pass, warn } from '../report.js'
import type { CertifyCase, TrialReply } from '../trial.js'
import { waitUntil } from '../wait-until.js'
import { thenAsk } from './run-cases.js'

type SessionCase = CertifyCase<SessionHost>

/** Two pings without an answer, and the time at which the next one is due. */
const SILENCE_MS = 3.5 * HEARTBEAT_MS
/** For the connection and the handshake of a solver that has begun in time. */
const DIAL_MS = 500
/** For a solver that connects again only after its connection has ended. */
const LATE_RECONNECT_MS = 8000

/** The service itself ends the session of a solver that does not answer. */
const heartbeat: SessionCase = {
  name: 'heartbeat',
  title: 'a pong to each ping',
  async run({ signal }, host) {
    const before = host.current()
    const hasEnded = () => before === undefined || host.current() !== before
    if (!(await waitUntil(hasEnded, SILENCE_MS, signal))) return pass('The solver answers pings.')
    return fail('The session has ended. Send pong with the id of each ping.', 'session_ended')
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
    before?.sendUnknown()
    const next = judge(await trial.requestQuote(), EITHER)
    if (next.status === 'pass' && host.current() === before) return pass('The session went on.')
    const text =
      'The session did not survive a message of an unknown type. Ignore types that you do not know.'
    return { ...next, status: 'fail', text }
  },
}

/** The case of a session after those of many requests. */
export const goAway: SessionCase = {
  name: 'go-away',
  title: 'after goAway, a new session in time',
  async run(trial, host) {
    const open = trial.requestQuote()
    // An interruption may reject it before it is awaited.
    open.catch(() => {})
    const old = host.current()
    const { reconnectWithinMs, endOld } = host.restart()
    const isBack = () => host.current() !== undefined && host.current() !== old
    const isInTime = await waitUntil(isBack, reconnectWithinMs + DIAL_MS, trial.signal)
    endOld()
    const found = judge(await open, EITHER)
    if (found.status !== 'pass')
      return {
        ...found,
        text: `A request that was open at goAway: ${found.text} Answer it on the old connection.`,
      }
    if (isInTime) return pass(`A new session came within ${reconnectWithinMs} ms.`)
    if (await waitUntil(isBack, LATE_RECONNECT_MS, trial.signal))
      return warn(
        `The solver connected again only after its connection had ended. After goAway, connect after a random part of its ${reconnectWithinMs} ms, so that you miss no request.`,
      )
    return fail('The solver did not connect again. Open a new session after goAway.', 'session_ended')
  },
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
export const sessionCases: readonly SessionCase[] = [heartbeat, malformedRequest, unknownMessage]
