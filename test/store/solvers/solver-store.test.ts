import { describe, expect, test } from 'vitest'
import { BOTH_DATABASES, DURABLE_DATABASES } from '../databases.js'
import { contents, NO_LIMIT, NOTED_AT, openStore, solver } from './solver-samples.js'

describe.each(BOTH_DATABASES)('a store of solvers %s', (_where, kind) => {
  const create = kind()

  test('returns exactly what was saved', async () => {
    const { store } = await openStore(await create())
    const saved = solver(1, { name: "Größe 🙂 '; drop table solvers; --", chainId: Number.MAX_SAFE_INTEGER })
    await store.save(saved, 1_800_000_000_123, NO_LIMIT)
    expect(await contents(store, saved)).toEqual({ solvers: [saved], timestamps: [1_800_000_000_123] })
  })

  test('updates endpoint and name of a solver and keeps the time of its registration', async () => {
    const { store } = await openStore(await create())
    await store.save(solver(1), 100, NO_LIMIT)
    const update = solver(1, { endpointUrl: 'https://new.example.org', name: 'New', registeredAt: 9 })
    const expected = { ...update, registeredAt: solver(1).registeredAt }
    await store.save(update, 101, NO_LIMIT)
    expect(await contents(store, update)).toEqual({ solvers: [expected], timestamps: [101] })
  })

  test('removes a solver and no other', async () => {
    const { store } = await openStore(await create())
    const elsewhere = solver(1, { chainId: 2 })
    for (const each of [solver(1), solver(2), elsewhere]) await store.save(each, 100, NO_LIMIT)
    await store.remove(solver(1), 101)
    expect((await store.readAll()).map(({ chainId, address }) => ({ chainId, address }))).toEqual([
      { chainId: 2, address: solver(1).address },
      { chainId: 1, address: solver(2).address },
    ])
  })

  test('registers a removed solver again', async () => {
    const { store } = await openStore(await create())
    await store.save(solver(1), 100, NO_LIMIT)
    await store.remove(solver(1), 101)
    const again = solver(1, { registeredAt: 1_900_000_000_000 })
    await store.save(again, 102, NO_LIMIT)
    expect(await store.readAll()).toEqual([again])
  })

  test('stores whether a bond suffices, for that solver only', async () => {
    const { store } = await openStore(await create())
    const elsewhere = solver(1, { chainId: 2, registeredAt: 1 })
    for (const each of [solver(1), solver(2), elsewhere]) await store.save(each, 100, NO_LIMIT)
    await store.setBonded(solver(1), false, NOTED_AT)
    const unbonded = { ...solver(1), isBonded: false, unbondedSince: NOTED_AT }
    expect(await contents(store, unbonded)).toEqual({
      solvers: [elsewhere, unbonded, solver(2)],
      timestamps: [100],
    })
    await store.setBonded(solver(1), true, NOTED_AT)
    expect((await store.readAll()).every(({ isBonded }) => isBonded)).toBe(true)
  })

  test('keeps the start of an insufficient bond until it suffices', async () => {
    const { store } = await openStore(await create())
    const sinceWhen = async () => (await store.readAll())[0]?.unbondedSince
    await store.save(solver(1), 100, NO_LIMIT)
    await store.setBonded(solver(1), false, 1000)
    await store.setBonded(solver(1), false, 2000)
    expect(await sinceWhen()).toBe(1000)
    await store.setBonded(solver(1), true, 3000)
    expect(await sinceWhen()).toBeUndefined()
    await store.setBonded(solver(1), false, 4000)
    expect(await sinceWhen()).toBe(4000)
    await store.save(solver(1), 101, NO_LIMIT)
    expect(await sinceWhen()).toBeUndefined()
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

  test('ignores the bond of a solver that is not registered', async () => {
    const { store } = await openStore(await create())
    await store.setBonded(solver(1), true, NOTED_AT)
    expect(await contents(store, solver(1))).toEqual({ solvers: [], timestamps: [undefined] })
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

  test('rejects the removal of a solver that is not registered, and changes nothing', async () => {
    const { store } = await openStore(await create())
    await store.save(solver(1), 100, NO_LIMIT)
    const elsewhere = solver(1, { chainId: 2 })
    await expect(store.remove(elsewhere, 200)).rejects.toMatchObject({ reason: 'SOLVER_NOT_FOUND' })
    expect(await contents(store, solver(1), elsewhere)).toEqual({
      solvers: [solver(1)],
      timestamps: [100, undefined],
    })
  })
})

describe.each(DURABLE_DATABASES)('a store of solvers %s', (_where, kind) => {
  const create = kind()

  test('keeps timestamps and registrations when it is opened again', async () => {
    const database = await create()
    const { store: before, close } = await openStore(database)
    await before.save(solver(1), 100, NO_LIMIT)
    await before.save(solver(2), 100, NO_LIMIT)
    await before.remove(solver(2), 101)
    await close()

    const { store } = await openStore(database)
    expect(await contents(store, solver(1), solver(2))).toEqual({
      solvers: [solver(1)],
      timestamps: [100, 101],
    })
    for (const each of [solver(1), solver(2)]) {
      await expect(store.save(each, 100, NO_LIMIT)).rejects.toMatchObject({ reason: 'TIMESTAMP_REUSED' })
    }
  })
})
