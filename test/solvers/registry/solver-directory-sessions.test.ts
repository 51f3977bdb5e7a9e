import { beforeEach, describe, expect, test } from 'vitest'
import type { Solver } from '../../../packages/protocol/src/solvers/solver.js'
import { createSolverStore, type SolverStore } from '../../../src/store/solvers/solver-store.js'
import { sqliteAt } from '../../store/databases.js'
import { NO_LIMIT, sessionSolver, solver } from '../../store/solvers/solver-samples.js'
import { openDirectory } from './open-directory.js'

const { chainId } = solver(1)
let store: SolverStore
/** The store of another replica. */
let remote: SolverStore
beforeEach(async () => {
  const { database, coordination } = await sqliteAt(':memory:').open()
  store = createSolverStore(database, coordination)
  remote = createSolverStore(database, coordination, { replicaId: 'remote', async assertHeld() {} })
})

const sessionsOf = (solvers: readonly Solver[]) => solvers.map(({ session }) => session?.id)

describe('the directory', () => {
  test('lists a solver without an endpoint while it has a session and a bond', async () => {
    const { directory } = await openDirectory(store)
    await directory.change(chainId, () => store.saveSession(sessionSolver(1, 'a'), NO_LIMIT))
    expect(sessionsOf(directory.active(chainId))).toEqual(['a'])
    await directory.change(chainId, () => store.setBonded(solver(1), false, 5))
    expect(directory.active(chainId)).toEqual([])
    await directory.change(chainId, () => store.setBonded(solver(1), true, 5))
    await directory.change(chainId, () => store.endSession(solver(1), 'a', 5))
    expect(directory.active(chainId)).toEqual([])
    expect(directory.registered(chainId)).toHaveLength(1)
  })

  test('lists a solver with an endpoint before, during and after its session', async () => {
    await store.save(solver(1), 1, NO_LIMIT)
    const { directory } = await openDirectory(store)
    expect(sessionsOf(directory.active(chainId))).toEqual([undefined])
    await directory.change(chainId, () => store.saveSession(sessionSolver(1, 'a'), NO_LIMIT))
    expect(sessionsOf(directory.active(chainId))).toEqual(['a'])
    await directory.change(chainId, () => store.endSession(solver(1), 'a', 5))
    expect(directory.active(chainId)).toEqual([solver(1)])
  })

  test('lists a solver whose session another replica holds, but can ask it only at its endpoint', async () => {
    await store.save(solver(2), 1, NO_LIMIT)
    for (const number of [1, 2]) await remote.saveSession(sessionSolver(number, 'a'), NO_LIMIT)
    const { directory } = await openDirectory(store)
    const addresses = (solvers: readonly Solver[]) => solvers.map(({ address }) => address)
    expect(addresses(directory.active(chainId))).toEqual([1, 2].map((number) => solver(number).address))
    expect(addresses(directory.reachable(chainId))).toEqual([solver(2).address])
    expect(sessionsOf(directory.reachable(chainId))).toEqual([undefined])

    await directory.change(chainId, () => store.saveSession(sessionSolver(1, 'b'), NO_LIMIT))
    expect(sessionsOf(directory.reachable(chainId))).toEqual(['b', undefined])
    const before = directory.reachable(chainId)
    await directory.change(chainId, () => remote.setBonded(solver(2), false, 5))
    expect(addresses(directory.active(chainId))).toEqual([solver(1).address])
    expect(directory.reachable(chainId)).not.toBe(before)
    const after = directory.reachable(chainId)
    await directory.change(chainId, () => remote.saveSession(sessionSolver(3, 'c'), NO_LIMIT))
    expect(directory.active(chainId)).toHaveLength(2)
    expect(directory.reachable(chainId)).toBe(after)
  })

  test('hides a session at once and in later reloads, until the caller ends this', async () => {
    await store.saveSession(sessionSolver(1, 'a'), NO_LIMIT)
    await store.save(solver(2), 1, NO_LIMIT)
    await store.saveSession(sessionSolver(2, 'b'), NO_LIMIT)
    const { directory } = await openDirectory(store)
    const before = directory.active(chainId)
    const stopHiding = directory.hideSession(chainId, 'a')
    directory.hideSession(chainId, 'b')
    expect(directory.active(chainId)).toEqual([solver(2)])
    expect(directory.find(solver(1))).not.toHaveProperty('session')
    expect(sessionsOf(before)).toEqual(['a', 'b'])

    const hidden = directory.active(chainId)
    await directory.change(chainId, async () => {})
    expect(directory.active(chainId)).toBe(hidden)
    stopHiding()
    await directory.change(chainId, async () => {})
    expect(sessionsOf(directory.active(chainId))).toEqual(['a', undefined])
  })
})
