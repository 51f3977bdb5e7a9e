import { expect, test } from 'vitest'
import type { SolverStore } from '../../../src/store/solvers/solver-store.js'
import { inPostgres } from '../databases.js'
import { NO_LIMIT, NOTED_AT, openReplicas, sessionSolver, solver } from './solver-samples.js'

const ROUNDS = 12
const create = inPostgres()

const sessionOf = async (store: SolverStore) => (await store.readAll())[0]?.session?.id

test('simultaneous sessions of one solver at two replicas leave one of them', async () => {
  const [a, b] = await openReplicas(await create())
  for (let round = 0; round < ROUNDS; round++) {
    await Promise.all([
      a.saveSession(sessionSolver(1, `a${round}`), NO_LIMIT),
      b.saveSession(sessionSolver(1, `b${round}`), NO_LIMIT),
    ])
    const stands = await sessionOf(a)
    expect([`a${round}`, `b${round}`]).toContain(stands)
  }
})

test('a new session and the end of the older one, in any order, leave the new one', async () => {
  const [a, b] = await openReplicas(await create())
  for (let round = 0; round < ROUNDS; round++) {
    await a.saveSession(sessionSolver(1, `old${round}`), NO_LIMIT)
    await Promise.all([
      a.endSession(solver(1), `old${round}`, NOTED_AT),
      b.saveSession(sessionSolver(1, `new${round}`), NO_LIMIT),
    ])
    expect(await sessionOf(b)).toBe(`new${round}`)
  }
})

test('a session that comes back while its place is removed has a place', async () => {
  const [a, b] = await openReplicas(await create())
  for (let round = 0; round < ROUNDS; round++) {
    await a.saveSession(sessionSolver(1, `old${round}`), 1)
    await a.endSession(solver(1), `old${round}`, NOTED_AT)
    await Promise.all([a.removeEnded(1, NOTED_AT + 1), b.saveSession(sessionSolver(1, `new${round}`), 1)])
    expect(await sessionOf(b)).toBe(`new${round}`)
  }
})
