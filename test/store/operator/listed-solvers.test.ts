import { describe, expect, test } from 'vitest'
import { createSolverLists } from '../../../src/store/operator/listed-solvers.js'
import { ONLY_REPLICA } from '../../../src/store/postgres/replica-lease.js'
import { createSolverStore } from '../../../src/store/solvers/solver-store.js'
import { BOTH_DATABASES, type TestDatabase } from '../databases.js'
import { NO_LIMIT, NOTED_AT, sessionSolver, solver } from '../solvers/solver-samples.js'

const { address } = solver(1)
const barOf = (chainId?: number) => ({ address, chainId, listedAt: NOTED_AT })
const BLOCKED = { reason: 'SOLVER_BLOCKED', httpStatus: 403 }

async function openStores(on: TestDatabase) {
  const { database, coordination } = await on.open()
  const store = createSolverStore(database, coordination)
  for (const chainId of [1, 2]) await store.save(solver(1, { chainId }), 100, NO_LIMIT)
  await store.save(solver(2), 100, NO_LIMIT)
  return { store, blockedSolvers: createSolverLists(database, coordination).blocked, database }
}

describe.each(BOTH_DATABASES)('a block %s', (_where, kind) => {
  const create = kind()

  test('of one chain removes the solver there, keeps its timestamp, and rejects it', async () => {
    const { store, blockedSolvers } = await openStores(await create())
    expect(await blockedSolvers.add(barOf(1))).toEqual([1])
    expect((await store.readAll()).map(({ chainId }) => chainId).sort()).toEqual([1, 2])
    expect(await store.readAll(1)).toEqual([solver(2)])
    expect(await store.lastTimestamp(solver(1))).toBe(100)
    expect([await store.isBlocked(solver(1)), await store.isBlocked(solver(1, { chainId: 2 }))]).toEqual([
      true,
      false,
    ])
    await expect(store.save(solver(1), 101, NO_LIMIT)).rejects.toMatchObject(BLOCKED)
    expect(await store.lastTimestamp(solver(1))).toBe(100)
    await store.save(solver(1, { chainId: 2 }), 101, NO_LIMIT)
  })

  test('of every chain applies on chains where the address was never registered', async () => {
    const { store, blockedSolvers } = await openStores(await create())
    expect(await blockedSolvers.add(barOf())).toEqual([1, 2])
    expect(await store.readAll()).toEqual([solver(2)])
    await expect(store.save(solver(1, { chainId: 3 }), 101, NO_LIMIT)).rejects.toMatchObject(BLOCKED)
  })

  test('removes a later registration of a version without blocks, on its chain alone', async () => {
    const { store, database } = await openStores(await create())
    const row = { list: 'blocked', address, chain_id: 1, listed_at_ms: NOTED_AT } as const
    await database.insertInto('listed_solvers').values(row).execute()
    expect(await store.removeBlocked(2)).toEqual([])
    expect(await store.removeBlocked(1)).toEqual([address])
    expect(await store.removeBlocked(1)).toEqual([])
    expect(await store.readAll(1)).toEqual([solver(2)])
    expect(await store.lastTimestamp(solver(1))).toBe(100)
    await database
      .insertInto('listed_solvers')
      .values({ ...row, chain_id: 0 })
      .execute()
    expect(await store.removeBlocked(2)).toEqual([address])
  })

  test('is listed once', async () => {
    const { blockedSolvers } = await openStores(await create())
    await blockedSolvers.add(barOf(1))
    await blockedSolvers.add({ ...barOf(1), listedAt: NOTED_AT + 1 })
    await blockedSolvers.add({ ...barOf(), listedAt: NOTED_AT + 2 })
    expect(await blockedSolvers.readAll()).toEqual([barOf(1), { ...barOf(), listedAt: NOTED_AT + 2 }])
  })

  test('can be removed for one chain or for all, and a new registration is accepted then', async () => {
    const { store, blockedSolvers } = await openStores(await create())
    for (const chainId of [1, 2, undefined]) await blockedSolvers.add(barOf(chainId))
    expect(await blockedSolvers.remove(address, 1)).toBe(1)
    expect(await blockedSolvers.remove(address, 1)).toBe(0)
    expect(await store.isBlocked(solver(1))).toBe(true)
    expect(await blockedSolvers.remove(address, undefined)).toBe(2)
    expect(await blockedSolvers.readAll()).toEqual([])
    await expect(store.save(solver(1), 100, NO_LIMIT)).rejects.toMatchObject({ reason: 'TIMESTAMP_REUSED' })
    await store.save(solver(1), 101, NO_LIMIT)
  })
})

describe.each(BOTH_DATABASES)('where only allowed solvers may register %s', (_where, kind) => {
  const create = kind()

  async function openAllowing(on: TestDatabase) {
    const { database, coordination } = await on.open()
    const open = createSolverStore(database, coordination)
    const store = createSolverStore(database, coordination, ONLY_REPLICA, true)
    return { open, store, ...createSolverLists(database, coordination) }
  }

  test('others are blocked, on each chain by itself', async () => {
    const { store, allowed } = await openAllowing(await create())
    await expect(store.save(solver(1), 100, NO_LIMIT)).rejects.toMatchObject(BLOCKED)
    await expect(store.saveSession(sessionSolver(1, 'one'), NO_LIMIT)).rejects.toMatchObject(BLOCKED)
    expect(await allowed.add(barOf(1))).toEqual([])
    await store.save(solver(1), 100, NO_LIMIT)
    await expect(store.save(solver(1, { chainId: 2 }), 100, NO_LIMIT)).rejects.toMatchObject(BLOCKED)
    await allowed.add(barOf())
    await store.save(solver(1, { chainId: 2 }), 100, NO_LIMIT)
    expect(await allowed.readAll()).toEqual([barOf(), barOf(1)])
  })

  test('those that are registered and not allowed are removed, and a block wins over an allowance', async () => {
    const { open, store, allowed, blocked } = await openAllowing(await create())
    await allowed.add(barOf())
    await open.save(solver(1), 100, NO_LIMIT)
    await open.save(solver(2), 100, NO_LIMIT)
    expect(await store.removeBlocked(1)).toEqual([solver(2).address])
    expect(await open.removeBlocked(1)).toEqual([])
    expect(await allowed.remove(address, undefined)).toBe(1)
    expect(await store.removeBlocked(1)).toEqual([address])
    await allowed.add(barOf())
    await blocked.add(barOf())
    await expect(store.save(solver(1), 101, NO_LIMIT)).rejects.toMatchObject(BLOCKED)
  })
})
