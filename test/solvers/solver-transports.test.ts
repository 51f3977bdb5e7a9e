import { expect, test } from 'vitest'
import { NO_ENDPOINT } from '../../src/domain/solver.js'
import type { SolverReply, SolverRequest, SolverTransport } from '../../src/solvers/solver-client.js'
import { createSolverTransports } from '../../src/solvers/solver-transports.js'
import { solver } from './rounds.js'

const REQUEST = {} as SolverRequest
const { signal } = new AbortController()

/** A transport that replies with its name. */
function named(name: string): SolverTransport {
  return { requestQuote: async () => ({ kind: 'replied', body: name }) }
}

const transports = createSolverTransports({ http: named('endpoint'), sessions: named('session') })
const ask = (changes: Parameters<typeof solver>[1], { requestQuote } = transports): Promise<SolverReply> =>
  requestQuote(solver(1, changes), REQUEST, signal)

test.each([
  ['with an endpoint at its endpoint', {}, 'endpoint'],
  ['with a session on its session', { endpointUrl: NO_ENDPOINT, session: { id: 'a' } }, 'session'],
  ['with both on its session', { session: { id: 'a' } }, 'session'],
])('a solver %s is asked', async (_which, changes, body) => {
  expect(await ask(changes)).toEqual({ kind: 'replied', body })
})

test('a solver with both is asked at its endpoint by an instance without sessions', async () => {
  const withoutSessions = createSolverTransports({ http: named('endpoint'), sessions: undefined })
  const reply = await ask({ session: { id: 'a' } }, withoutSessions)
  expect(reply).toEqual({ kind: 'replied', body: 'endpoint' })
})

test('a request to a solver with neither fails at once, and its place is free again', async () => {
  let ends = 0
  const onEnd = () => void ends++
  const reply = await transports.requestQuote(solver(1, { endpointUrl: NO_ENDPOINT }), REQUEST, signal, {
    onEnd,
  })
  expect(reply).toMatchObject({ kind: 'failed', reason: 'session_ended' })
  expect(ends).toBe(1)
})
