import { describe, expect, test } from 'vitest'
import { BOTH_DATABASES } from '../databases.js'
import { contents, NO_LIMIT, NOTED_AT, openStore, solver } from './solver-samples.js'

const REUSED = { reason: 'TIMESTAMP_REUSED' }
const NOT_FOUND = { reason: 'SOLVER_NOT_FOUND' }

describe.each(BOTH_DATABASES)('a store of solvers %s', (_where, kind) => {
  const create = kind()

  test('returns exactly what was saved', async () => {
    const { store } = await openStore(await create())
    const saved = solver(1, { name: "Größe 🙂 '; drop table solvers; --", chainId: Number.MAX_SAFE_INTEGER })
    await store.save(saved, 1_800_000_000_123, NO_LIMIT)
    expect(await contents(store, saved)).toEqual({ solvers: [saved], timestamps: [1_800_000_000_123] })
  })

  test('updates endpoint and name of a solver, and the time of its registration when it was removed', async () => {
    const { store } = await openStore(await create())
    await store.save(solver(1), 100, NO_LIMIT)
    const update = solver(1, { endpointUrl: 'https://new.example.org', name: 'New', registeredAt: 9 })
    await store.save(update, 101, NO_LIMIT)
    const updated = { ...update, registeredAt: solver(1).registeredAt }
    expect(await contents(store, update)).toEqual({ solvers: [updated], timestamps: [101] })
    await store.remove(update, 102)
    await store.save(update, 103, NO_LIMIT)
    expect(await contents(store, update)).toEqual({ solvers: [update], timestamps: [103] })
  })

  test('removes a solver on one chain, and rejects the removal of one that is not registered', async () => {
    const { store } = await openStore(await create())
    const elsewhere = solver(1, { chainId: 2 })
    await store.save(solver(1), 100, NO_LIMIT)
    await store.save(solver(2), 50, NO_LIMIT)
    await store.save(elsewhere, 25, NO_LIMIT)
    await store.remove(solver(1), 101)
    for (const unknown of [solver(1), solver(2, { chainId: 2 })]) {
      await expect(store.remove(unknown, 200)).rejects.toMatchObject(NOT_FOUND)
      await store.setBonded(unknown, true, NOTED_AT)
    }
    expect(await contents(store, solver(1), solver(2), elsewhere, solver(2, { chainId: 2 }))).toEqual({
      solvers: [elsewhere, solver(2)],
      timestamps: [101, 50, 25, undefined],
    })
  })

  test.each(['save', 'remove'] as const)(
    'takes no message that is not newer than the last %s',
    async (last) => {
      const { store } = await openStore(await create())
      await store.save(solver(1), 98, NO_LIMIT)
      await store[last](solver(1), 100, NO_LIMIT)
      const before = await contents(store, solver(1))
      for (const timestamp of [99, 100]) {
        const changed = solver(1, { name: 'New' })
        await expect(store.save(changed, timestamp, NO_LIMIT)).rejects.toMatchObject(REUSED)
        await expect(store.remove(solver(1), timestamp)).rejects.toMatchObject(REUSED)
      }
      expect(await contents(store, solver(1))).toEqual(before)
    },
  )

  test('accepts one of two equal simultaneous messages', async () => {
    const { store } = await openStore(await create())
    const saves = [1, 2].map(() => store.save(solver(1), 100, NO_LIMIT))
    const results = await Promise.allSettled(saves)
    expect(results.map(({ status }) => status).sort()).toEqual(['fulfilled', 'rejected'])
  })

  test('keeps the start of an insufficient bond until it suffices or its solver registers', async () => {
    const { store } = await openStore(await create())
    const elsewhere = solver(1, { chainId: 2, registeredAt: 1 })
    for (const each of [solver(1), solver(2), elsewhere]) await store.save(each, 100, NO_LIMIT)
    const expectSince = async (unbondedSince?: number) => {
      const own = { ...solver(1), ...(unbondedSince !== undefined && { isBonded: false, unbondedSince }) }
      expect(await store.readAll()).toEqual([elsewhere, own, solver(2)])
    }
    await store.setBonded(solver(1), false, 1000)
    await store.setBonded(solver(1), false, 2000)
    await expectSince(1000)
    await store.setBonded(solver(1), true, 3000)
    await expectSince()
    await store.setBonded(solver(1), false, 4000)
    await expectSince(4000)
    await store.save(solver(1), 101, NO_LIMIT)
    await expectSince()
  })

  test('removes a solver only if it has lacked a bond since before a time', async () => {
    const { store } = await openStore(await create())
    await store.save(solver(1), 100, NO_LIMIT)
    expect(await store.removeUnbonded(solver(1), 9000)).toBe(false)
    await store.setBonded(solver(1), false, 1000)
    expect(await store.removeUnbonded(solver(1), 1000)).toBe(false)
    expect(await store.removeUnbonded(solver(1), 1001)).toBe(true)
    expect(await contents(store, solver(1))).toEqual({ solvers: [], timestamps: [100] })
  })

  test('returns the longest registered solver first, and sorts equal times by address', async () => {
    const { store } = await openStore(await create())
    const solvers = [
      solver(1, { registeredAt: 30 }),
      solver(4, { registeredAt: 20 }),
      solver(3, { registeredAt: 20, chainId: 2 }),
      solver(2, { registeredAt: 10 }),
    ]
    for (const each of solvers) await store.save(each, 100, NO_LIMIT)
    expect((await store.readAll()).map(({ address }) => address)).toEqual(
      [2, 3, 4, 1].map((number) => solver(number).address),
    )
  })
})
