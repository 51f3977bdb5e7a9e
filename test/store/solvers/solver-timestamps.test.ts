import { describe, expect, test } from 'vitest'
import { BOTH_DATABASES } from '../databases.js'
import { contents, NO_LIMIT, openStore, solver } from './solver-samples.js'

describe.each(BOTH_DATABASES)('timestamps of solvers %s', (_where, kind) => {
  const create = kind()

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
