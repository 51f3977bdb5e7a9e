import { describe, expect, test } from 'vitest'
import {
  type CircuitBreakerStore,
  createCircuitBreakerStore,
  type StoredOpenPeriod,
} from '../../../src/store/solvers/circuit-breaker-store.js'
import { DATABASES, DURABLE_DATABASES, type TestDatabase } from '../databases.js'

async function openStore(on: TestDatabase) {
  const { database, close } = await on.open()
  return { store: createCircuitBreakerStore(database), close }
}

function openPeriod(number: number, changes: Partial<StoredOpenPeriod> = {}): StoredOpenPeriod {
  return {
    chainId: 1,
    address: `0x${number.toString(16).padStart(40, '0')}`,
    endpointUrl: `https://solver-${number}.example.org`,
    level: number,
    until: 1_800_000_000_000 + number,
    ...changes,
  }
}

/** All open periods, sorted. */
async function contents(store: CircuitBreakerStore): Promise<StoredOpenPeriod[]> {
  const periods = await store.readAll()
  return periods.sort((a, b) => a.chainId - b.chainId || a.address.localeCompare(b.address))
}

describe.each(DATABASES)('a store of open circuit breakers %s', (_where, kind) => {
  const create = kind()

  test('is empty at first', async () => {
    const { store } = await openStore(await create())
    expect(await contents(store)).toEqual([])
  })

  test('returns exactly what was saved', async () => {
    const { store } = await openStore(await create())
    const saved = [
      openPeriod(1),
      openPeriod(2, {
        chainId: Number.MAX_SAFE_INTEGER,
        endpointUrl: "https://x.example/ü'; drop table solvers; --",
      }),
      openPeriod(3, { chainId: Number.MAX_SAFE_INTEGER, level: 1000, until: 0 }),
    ]
    for (const each of saved) await store.save(each)
    expect(await contents(store)).toEqual(saved)
  })

  test("keeps only a solver's last open period", async () => {
    const { store } = await openStore(await create())
    const next = openPeriod(1, { endpointUrl: 'https://new.example.org', level: 7, until: 1_900_000_000_000 })
    for (const each of [openPeriod(1), openPeriod(2), next]) await store.save(each)
    expect(await contents(store)).toEqual([next, openPeriod(2)])
  })

  test('keeps the open periods of one address on two chains apart', async () => {
    const { store } = await openStore(await create())
    const elsewhere = openPeriod(1, { chainId: 2, level: 9 })
    await store.save(openPeriod(1))
    await store.save(elsewhere)
    expect(await contents(store)).toEqual([openPeriod(1), elsewhere])
    await store.save({ ...elsewhere, level: 10 })
    expect(await contents(store)).toEqual([openPeriod(1), { ...elsewhere, level: 10 }])
    await store.remove(openPeriod(1))
    expect(await contents(store)).toEqual([{ ...elsewhere, level: 10 }])
  })

  test('removes one open period and no other, and ignores one that does not exist', async () => {
    const { store } = await openStore(await create())
    for (const each of [openPeriod(1), openPeriod(2)]) await store.save(each)
    await store.remove(openPeriod(1))
    await store.remove(openPeriod(1))
    await store.remove(openPeriod(3))
    expect(await contents(store)).toEqual([openPeriod(2)])
  })

  test('saves an open period again that was removed', async () => {
    const { store } = await openStore(await create())
    await store.save(openPeriod(1))
    await store.remove(openPeriod(1))
    await store.save(openPeriod(1, { level: 4 }))
    expect(await contents(store)).toEqual([openPeriod(1, { level: 4 })])
  })

  test('runs its writes in the order of the calls, also when these do not wait', async () => {
    const { store } = await openStore(await create())
    for (let round = 1; round <= 10; round++) {
      const last = openPeriod(1, { level: 50 })
      await Promise.all([
        ...Array.from({ length: round }, (_, level) => [
          store.save(openPeriod(1, { level })),
          store.remove(openPeriod(1)),
          store.save(openPeriod(2, { level })),
        ]).flat(),
        store.save(last),
        store.remove(openPeriod(2)),
      ])
      expect(await contents(store)).toEqual([last])
    }
  })

  test('rejects every call after it is closed', async () => {
    const { store, close } = await openStore(await create())
    expect(await store.readAll()).toEqual([])
    await close()
    await expect(store.readAll()).rejects.toThrow()
    await expect(store.save(openPeriod(1))).rejects.toThrow()
    await expect(store.remove(openPeriod(1))).rejects.toThrow()
  })
})

describe.each(DURABLE_DATABASES)('a store of open circuit breakers %s', (_where, kind) => {
  const create = kind()

  test('keeps what was saved and removed when it is opened again', async () => {
    const database = await create()
    const before = await openStore(database)
    for (const each of [openPeriod(1), openPeriod(2), openPeriod(3, { chainId: 2 })])
      await before.store.save(each)
    await before.store.remove(openPeriod(2))
    await before.close()
    const after = await openStore(database)
    expect(await contents(after.store)).toEqual([openPeriod(1), openPeriod(3, { chainId: 2 })])
  })
})
