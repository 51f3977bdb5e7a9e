import { expect, test } from 'vitest'
import { NO_ENDPOINT } from '../../../src/domain/solvers/solver.js'
import type {
  SolverReply,
  SolverRequest,
  SolverTransport,
} from '../../../src/solvers/transport/solver-client.js'
import { createSolverTransports } from '../../../src/solvers/transport/solver-transports.js'
import { solver } from '../conduct/rounds.js'

const REQUEST = {} as SolverRequest
const { signal } = new AbortController()

const NO_URL = { id: 'a', replicaId: 'b' }
const REMOTE = { ...NO_URL, replicaUrl: 'http://127.0.0.1:1' }
const CUT_OFF = { ...REMOTE, isCutOff: true } as const

/** A transport that replies with its name. */
function named(name: string): SolverTransport {
  return { requestQuote: async () => ({ kind: 'replied', body: name }) }
}

const transports = createSolverTransports({ http: named('endpoint'), sessions: named('session') })
const ask = (changes: Parameters<typeof solver>[1]): Promise<SolverReply> =>
  transports.requestQuote(solver(1, changes), REQUEST, signal)

test.each([
  ['with an endpoint at its endpoint', {}, 'endpoint'],
  ['with a session on its session', { endpointUrl: NO_ENDPOINT, session: { id: 'a' } }, 'session'],
  ['with both on its session', { session: { id: 'a' } }, 'session'],
  ['with a session at another replica there', { remoteSession: REMOTE }, 'session'],
  ['with one at a replica without a URL at its endpoint', { remoteSession: NO_URL }, 'endpoint'],
  ['with one at a replica that does not answer at its endpoint', { remoteSession: CUT_OFF }, 'endpoint'],
])('a solver %s is asked', async (_which, changes, body) => {
  expect(await ask(changes)).toEqual({ kind: 'replied', body })
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
