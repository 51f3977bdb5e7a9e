import { describe, expect, test } from 'vitest'
import { NO_ENDPOINT } from '../../../packages/protocol/src/solvers/solver.js'
import { openSqliteStores } from '../../../src/store/sqlite/sqlite-stores.js'
import { createLog } from '../../../src/telemetry/log.js'
import { temporaryFile } from '../../support/databases/temporary-file.js'
import { createManualClock } from '../../support/manual-clock.js'
import { BOTH_DATABASES } from '../databases.js'
import { contents, NO_LIMIT, openStore, sessionSolver, solver } from './solver-samples.js'

const ENDED_AT = 1_900_000_000_000

describe.each(BOTH_DATABASES)('a session in the store of solvers %s', (_where, kind) => {
  const create = kind()

  test('registers a solver without an endpoint, and stays when it registers one, which sets its name', async () => {
    const { store } = await openStore(await create())
    expect(await store.saveSession(sessionSolver(1, 'a', { registeredAt: 9 }), NO_LIMIT)).toBeUndefined()
    const begun = solver(1, { endpointUrl: NO_ENDPOINT, registeredAt: 9, session: { id: 'a' } })
    expect(await contents(store, begun)).toEqual({ solvers: [begun], timestamps: [undefined] })
    await store.save(solver(1, { name: 'New' }), 100, NO_LIMIT)
    const registered = solver(1, { name: 'New', registeredAt: 9, session: { id: 'a' } })
    expect(await contents(store, registered)).toEqual({ solvers: [registered], timestamps: [100] })
  })

  test('keeps endpoint and times of a registered solver, and sets its name and its bond', async () => {
    const { store } = await openStore(await create())
    await store.save(solver(1), 100, NO_LIMIT)
    await store.setBonded(solver(1), false, 1000)
    await store.saveSession(sessionSolver(1, 'a', { name: 'New', registeredAt: 9 }), NO_LIMIT)
    const expected = solver(1, { name: 'New', session: { id: 'a' } })
    expect(await contents(store, expected)).toEqual({ solvers: [expected], timestamps: [100] })
  })

  test('replaces the earlier session, whose end then changes nothing', async () => {
    const { store } = await openStore(await create())
    await store.saveSession(sessionSolver(1, 'a'), NO_LIMIT)
    await store.saveSession(sessionSolver(1, 'b'), NO_LIMIT)
    await store.endSession(solver(1), 'a', ENDED_AT)
    expect((await store.readAll())[0]?.session).toEqual({ id: 'b' })
    await store.endSession(solver(1), 'b', ENDED_AT)
    const [ended] = await store.readAll()
    expect(ended?.endpointUrl).toBe(NO_ENDPOINT)
    expect(ended).not.toHaveProperty('session')
  })

  test('ends on one chain and stays on the others, until its solver unregisters', async () => {
    const { store } = await openStore(await create())
    for (const chainId of [1, 2]) await store.saveSession(sessionSolver(1, 'a', { chainId }), NO_LIMIT)
    await store.endSession(solver(1), 'a', ENDED_AT)
    const sessions = (await store.readAll()).map(({ chainId, session }) => [chainId, session?.id])
    expect(sessions.sort()).toEqual([
      [1, undefined],
      [2, 'a'],
    ])
    await store.remove(solver(1, { chainId: 2 }), 100)
    expect((await store.readAll()).map(({ chainId }) => chainId)).toEqual([1])
  })

  test('keeps the time of its end when the end is stored again', async () => {
    const { store } = await openStore(await create())
    await store.saveSession(sessionSolver(1, 'a'), NO_LIMIT)
    await store.endSession(solver(1), 'a', ENDED_AT)
    await store.endSession(solver(1), 'a', ENDED_AT + 1000)
    expect(await store.removeEnded(1, ENDED_AT)).toEqual([])
    expect(await store.removeEnded(1, ENDED_AT + 1)).toEqual([solver(1).address])
    expect(await store.readAll()).toEqual([])
  })

  test('keeps its place while it lasts, with an endpoint, and on another chain', async () => {
    const { store } = await openStore(await create())
    const elsewhere = sessionSolver(4, 'd', { chainId: 2 })
    await store.saveSession(sessionSolver(1, 'a'), NO_LIMIT)
    await store.saveSession(sessionSolver(2, 'b'), NO_LIMIT)
    await store.save(solver(2), 100, NO_LIMIT)
    await store.saveSession(sessionSolver(3, 'c'), NO_LIMIT)
    await store.saveSession(elsewhere, NO_LIMIT)
    await store.endSession(solver(2), 'b', ENDED_AT)
    await store.endSession(solver(3), 'c', ENDED_AT)
    await store.endSession(elsewhere, 'd', ENDED_AT)
    expect(await store.removeEnded(1, ENDED_AT + 1)).toEqual([solver(3).address])
    expect((await store.readAll()).map(({ address }) => address)).toEqual(
      [1, 2, 4].map((number) => solver(number).address),
    )
  })

  test('begins again at the place that it has left', async () => {
    const { store } = await openStore(await create())
    await store.saveSession(sessionSolver(1, 'a'), 1)
    await store.endSession(solver(1), 'a', ENDED_AT)
    await expect(store.saveSession(sessionSolver(2, 'b'), 1)).rejects.toMatchObject({
      reason: 'SOLVER_LIMIT_REACHED',
    })
    await store.saveSession(sessionSolver(1, 'c', { registeredAt: 9 }), 1)
    expect(await store.readAll()).toEqual([solver(1, { endpointUrl: NO_ENDPOINT, session: { id: 'c' } })])
    expect(await store.removeEnded(1, ENDED_AT + 1)).toEqual([])
  })
})

test('sessions in a file end when the file is opened, and their places stay from then on', async () => {
  const dbPath = temporaryFile()
  const open = (now: number) =>
    openSqliteStores({
      dbPath,
      quoteRecordHours: 0,
      quoteRecordMaxBytes: 0,
      solverAllowlist: false,
      clock: createManualClock(now),
      log: createLog('silent'),
    })
  const before = await open(1000)
  await before.solvers.saveSession(sessionSolver(1, 'a'), NO_LIMIT)
  await before.solvers.saveSession(sessionSolver(2, 'b'), NO_LIMIT)
  await before.solvers.endSession(solver(2), 'b', 500)
  await before.close()

  const { solvers, close } = await open(2000)
  expect((await solvers.readAll()).map(({ session }) => session)).toEqual([undefined, undefined])
  expect(await solvers.removeEnded(1, 2000)).toEqual([solver(2).address])
  expect(await solvers.removeEnded(1, 2001)).toEqual([solver(1).address])
  await close()
})
