import { expect, test } from 'vitest'
import { toRequestBody } from '../../packages/protocol/src/signing/quote-request.js'
import { CANCELLED, REPLICA_UNREACHABLE } from '../../packages/protocol/src/solvers/solver-result.js'
import { createRelayedRequests, type RelayedReply } from '../../src/sessions/relayed-requests.js'
import type { SessionTransport, SolverReply } from '../../src/solvers/transport/solver-transports.js'
import { createManualClock } from '../support/manual-clock.js'
import { exactInput } from '../support/solvers/sample-quotes.js'

const SESSION_ENDED = { kind: 'failed', reason: 'session_ended' } as SolverReply

/** The requests of another replica for one session, which answers as the test says. */
function open(answer: () => Promise<SolverReply> | SolverReply, { isHeld = true } = {}) {
  const clock = createManualClock()
  const asked: Parameters<SessionTransport['requestQuote']>[1][] = []
  const results: unknown[] = []
  const sessions: SessionTransport = {
    requestQuote(_solver, request, signal, { onSent }) {
      asked.push(request)
      if (isHeld) onSent?.()
      const aborted = new Promise<SolverReply>((resolve) =>
        signal.addEventListener('abort', () => resolve(CANCELLED)),
      )
      return Promise.race([answer(), aborted])
    },
    reportResult: (...result) => void results.push(result),
  }
  const send = createRelayedRequests(sessions, clock)
  async function answersTo(message: object): Promise<RelayedReply[]> {
    const lines: string[] = []
    await send(JSON.stringify(message), (line) => lines.push(line))
    return lines.map((line) => JSON.parse(line))
  }
  const request = {
    type: 'quoteRequest',
    solvers: [{ sessionId: 's', address: `0x${'0a'.repeat(20)}`, id: 'quote' }],
    kind: 'INDICATIVE',
    deadline: clock.now() + 1000,
    waitMs: 1000,
    body: toRequestBody(exactInput),
  }
  return { clock, asked, results, answersTo, request }
}

const silent = () => new Promise<SolverReply>(() => {})
const replyOf = async (...of: Parameters<typeof open>) => {
  const { answersTo, request } = open(...of)
  return answersTo(request)
}

test('a solver is asked for the kind of the round, and its decline is sent back', async () => {
  const decline: SolverReply = { kind: 'declined', code: 'AMOUNT_TOO_LARGE' }
  const { asked, answersTo, request } = open(() => decline)
  expect(await answersTo(request)).toEqual([{ id: 'quote', reply: decline }])
  expect(asked).toMatchObject([{ request: { kind: 'INDICATIVE' } }])
})

test('only the parts of an offer are sent back', async () => {
  const quote = { outputAmount: '200', more: 'a'.repeat(60_000) }
  const [line] = await replyOf(() => ({ kind: 'replied', body: { quote, more: quote } }))
  expect(line).toMatchObject({ reply: { kind: 'replied', body: { quote: { outputAmount: '200' } } } })
  expect(JSON.stringify(line).length).toBeLessThan(2000)
})

test('parts of an offer that are too long are not sent back', async () => {
  const body = { quote: { solver: 'a'.repeat(60_000) } }
  expect(await replyOf(() => ({ kind: 'replied', body }))).toEqual([
    { id: 'quote', reply: { kind: 'replied' } },
  ])
})

test('a session that is not held here counts for nothing', async () => {
  expect(await replyOf(() => SESSION_ENDED, { isHeld: false })).toEqual([
    { id: 'quote', reply: REPLICA_UNREACHABLE },
  ])
})

test('a session that ends after the request was sent is a failure of its solver', async () => {
  expect(await replyOf(() => SESSION_ENDED)).toEqual([{ id: 'quote', reply: SESSION_ENDED }])
})

test('a solver is late 50 ms before the round, so that the answer comes back in time', async () => {
  const { clock, asked, answersTo, request } = open(silent)
  const answers = answersTo(request)
  expect(asked).toMatchObject([{ deadline: request.deadline - 50 }])
  await clock.advance(949)
  expect(await Promise.race([answers, 'it waits'])).toBe('it waits')
  await clock.advance(1)
  expect(await answers).toEqual([{ id: 'quote', reply: { kind: 'late' } }])
  expect(clock.waiting).toBe(0)
})

test('of a short wait, a tenth is left for the answer on its way back', async () => {
  const { clock, asked, answersTo, request } = open(silent)
  const answers = answersTo({ ...request, waitMs: 91 })
  expect(asked).toMatchObject([{ deadline: request.deadline - 10 }])
  await clock.advance(81)
  expect(await answers).toEqual([{ id: 'quote', reply: { kind: 'late' } }])
})

test('a request that a session cannot take is a failure of its solver, although it was not sent', async () => {
  const congested = { kind: 'failed', reason: 'session_congested' } as SolverReply
  expect(await replyOf(() => congested, { isHeld: false })).toEqual([{ id: 'quote', reply: congested }])
})

test('a reply that is nested too deeply to be written again is no offer', async () => {
  const solver = JSON.parse(`${'['.repeat(50_000)}${']'.repeat(50_000)}`)
  expect(await replyOf(() => ({ kind: 'replied', body: { quote: { solver } } }))).toEqual([
    { id: 'quote', reply: { kind: 'replied' } },
  ])
})

test('the longest line has 4096 characters', async () => {
  const lineOf = async (characters: number) => {
    const body = { quote: { solver: 'a'.repeat(characters) } }
    const [line] = await replyOf(() => ({ kind: 'replied', body }))
    return JSON.stringify(line).length
  }
  const rest = (await lineOf(1)) - 1
  expect(await lineOf(4096 - rest)).toBe(4096)
  expect(await lineOf(4097 - rest)).toBeLessThan(100)
})

test('a round that is answered leaves no timer', async () => {
  const decline: SolverReply = { kind: 'declined', code: 'PAUSED' }
  const { clock, answersTo, request } = open(() => decline)
  await answersTo(request)
  expect(clock.waiting).toBe(0)
})

test('the result of a solver that has answered ends no request to the others', async () => {
  const replies: (() => Promise<SolverReply>)[] = [async () => ({ kind: 'declined', code: 'PAUSED' }), silent]
  const { clock, answersTo, request } = open(() => (replies.shift() ?? silent)())
  const [solver] = request.solvers
  const answers = answersTo({ ...request, solvers: [solver, { ...solver, id: 'other' }] })
  await new Promise(setImmediate)
  const result = { outcome: 'DECLINED' }
  await answersTo({ type: 'results', results: [{ sessionId: 's', id: 'quote', result }] })
  expect(await Promise.race([answers, new Promise(setImmediate).then(() => 'it waits')])).toBe('it waits')
  await clock.advance(950)
  expect(await answers).toMatchObject([{ id: 'quote' }, { id: 'other', reply: { kind: 'late' } }])
})

test('a ping is answered with its id', async () => {
  expect(await open(silent).answersTo({ type: 'ping', id: '7' })).toEqual([7])
})

test('a result is passed on, and ends its request: the round has not waited for the solver', async () => {
  const { results, answersTo, request } = open(silent)
  const answers = answersTo(request)
  const result = { outcome: 'CANCELLED' }
  expect(await answersTo({ type: 'results', results: [{ sessionId: 's', id: 'quote', result }] })).toEqual([])
  expect(await answers).toEqual([{ id: 'quote', reply: { kind: 'late' } }])
  expect(results).toEqual([[{ session: { id: 's' } }, 'quote', result]])
})
