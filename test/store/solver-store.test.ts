import { describe, expect, test } from 'vitest'
import { DATABASES, DURABLE_DATABASES } from './databases.js'
import { contents, NO_LIMIT, NOTED_AT, openStore, solver } from './solver-samples.js'

describe.each(DATABASES)('a store of solvers %s', (_where, kind) => {
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

  test('corrects a name that an older version accepted', async () => {
    const { store } = await openStore(await create())
    await store.save(solver(1, { name: 'Ada\u202egro ' }), 100, NO_LIMIT)
    expect((await store.readAll())[0]?.name).toBe('Ada\ufffdgro')
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

  describe('timestamps', () => {
    test('are undefined for a solver that never had one', async () => {
      const { store } = await openStore(await create())
      expect(await store.lastTimestamp(solver(1))).toBeUndefined()
    })

    test.each([
      ['equal', 100],
      ['older', 99],
    ])('that are %s are rejected for a save and a removal, and change nothing', async (_what, timestamp) => {
      const { store } = await openStore(await create())
      await store.save(solver(1), 100, NO_LIMIT)
      const before = await contents(store, solver(1))
      const refusal = { reason: 'TIMESTAMP_REUSED' }
      await expect(store.save(solver(1, { name: 'New' }), timestamp, NO_LIMIT)).rejects.toMatchObject(refusal)
      await expect(store.remove(solver(1), timestamp)).rejects.toMatchObject(refusal)
      expect(await contents(store, solver(1))).toEqual(before)
    })

    test('can be newer by 1 ms', async () => {
      const { store } = await openStore(await create())
      await store.save(solver(1), 100, NO_LIMIT)
      await store.save(solver(1), 101, NO_LIMIT)
      await store.remove(solver(1), 102)
      expect(await store.lastTimestamp(solver(1))).toBe(102)
    })

    test('outlive the registration', async () => {
      const { store } = await openStore(await create())
      await store.save(solver(1), 100, NO_LIMIT)
      await store.remove(solver(1), 101)
      await expect(store.save(solver(1), 101, NO_LIMIT)).rejects.toMatchObject({ reason: 'TIMESTAMP_REUSED' })
      expect(await store.readAll()).toEqual([])
    })

    test('are kept for each solver of each chain', async () => {
      const { store } = await openStore(await create())
      await store.save(solver(1), 100, NO_LIMIT)
      await store.save(solver(2), 50, NO_LIMIT)
      await store.save(solver(1, { chainId: 2 }), 25, NO_LIMIT)
      const solvers = [solver(1), solver(2), solver(1, { chainId: 2 })]
      expect((await contents(store, ...solvers)).timestamps).toEqual([100, 50, 25])
    })

    test('of two equal simultaneous messages are accepted once', async () => {
      const { store } = await openStore(await create())
      const saves = [1, 2].map(() => store.save(solver(1), 100, NO_LIMIT))
      const results = await Promise.allSettled(saves)
      expect(results.map(({ status }) => status).sort()).toEqual(['fulfilled', 'rejected'])
    })
  })

  describe('a rejection changes nothing for', () => {
    test('one solver more than the chain may have', async () => {
      const { store } = await openStore(await create())
      await store.save(solver(1), 100, 2)
      await store.save(solver(2), 100, 2)
      await expect(store.save(solver(3), 100, 2)).rejects.toMatchObject({ reason: 'SOLVER_LIMIT_REACHED' })
      expect(await contents(store, solver(3))).toEqual({
        solvers: [solver(1), solver(2)],
        timestamps: [undefined],
      })
    })

    test('the removal of a solver that is not registered', async () => {
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

  describe('the limit', () => {
    test('allows updates of a registered solver', async () => {
      const { store } = await openStore(await create())
      await store.save(solver(1), 100, 1)
      await store.save(solver(1, { name: 'New' }), 101, 1)
      expect(await store.readAll()).toEqual([solver(1, { name: 'New' })])
    })

    test('counts each chain separately', async () => {
      const { store } = await openStore(await create())
      await store.save(solver(1), 100, 1)
      await store.save(solver(2, { chainId: 2 }), 100, 1)
      expect(await store.readAll()).toHaveLength(2)
    })

    test('frees a place when a solver is removed', async () => {
      const { store } = await openStore(await create())
      await store.save(solver(1), 100, 1)
      await store.remove(solver(1), 101)
      await store.save(solver(2), 100, 1)
      expect(await store.readAll()).toEqual([solver(2)])
    })

    test.each([
      ['the first of those that may be replaced', [2, 3], 1000, 2],
      ['the next one when the first has its bond', [1, 3], 1000, 3],
      ['no one whose bond is missing for too short a time', [3], 500, undefined],
      ['no one who has a bond', [1], 1000, undefined],
      ['no solver without any candidate', [], 1000, undefined],
      ['no one of another chain', [4], 1000, undefined],
    ])('makes a new solver replace %s', async (_which, numbers, unbondedBefore, replacedNumber) => {
      const { store } = await openStore(await create())
      for (const number of [1, 2, 3]) await store.save(solver(number), 100, 3)
      const elsewhere = solver(4, { chainId: 2 })
      await store.save(elsewhere, 100, 3)
      for (const each of [solver(2), solver(3), elsewhere]) await store.setBonded(each, false, 600)
      const addresses = numbers.map((number) => solver(number).address)
      const saving = store.save(solver(5), 100, 3, { addresses, unbondedBefore })
      const before = [1, 2, 3]
      if (replacedNumber === undefined) {
        await expect(saving).rejects.toMatchObject({ reason: 'SOLVER_LIMIT_REACHED' })
      } else {
        const { address } = solver(replacedNumber)
        expect(await saving).toBe(address)
        expect(await store.lastTimestamp(solver(replacedNumber))).toBe(100)
        before.splice(before.indexOf(replacedNumber), 1, 5)
      }
      const left = (await store.readAll()).filter(({ chainId }) => chainId === 1)
      expect(left.map(({ address }) => address).sort()).toEqual(
        before.sort().map((number) => solver(number).address),
      )
    })

    test('replaces no solver while a place is free', async () => {
      const { store } = await openStore(await create())
      await store.save(solver(1), 100, 2)
      await store.setBonded(solver(1), false, 600)
      const replaceable = { addresses: [solver(1).address], unbondedBefore: 1000 }
      expect(await store.save(solver(2), 100, 2, replaceable)).toBeUndefined()
      expect(await store.readAll()).toHaveLength(2)
    })

    test('holds for simultaneous registrations', async () => {
      const { store } = await openStore(await create())
      const saves = [1, 2, 3, 4].map((number) => store.save(solver(number), 100, 2))
      const results = await Promise.allSettled(saves)
      expect(results.filter(({ status }) => status === 'fulfilled')).toHaveLength(2)
      expect(await store.readAll()).toHaveLength(2)
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
