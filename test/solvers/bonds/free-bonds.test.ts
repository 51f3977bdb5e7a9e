import { describe, expect, test } from 'vitest'
import type { Bond } from '../../../packages/protocol/src/solvers/solver.js'
import type { Address } from '../../../packages/protocol/src/values/hex.js'
import { createFreeBonds } from '../../../src/solvers/bonds/free-bonds.js'
import { type BondStore, createBondStore } from '../../../src/store/solvers/bond-store.js'
import { createSolverStore } from '../../../src/store/solvers/solver-store.js'
import { BOTH_DATABASES, type TestDatabase } from '../../store/databases.js'
import { NO_LIMIT, solver } from '../../store/solvers/solver-samples.js'
import { deferred } from '../../support/deferred.js'

const one = solver(1)
const other = solver(2)

const stored = (total: bigint) => ({ free: total, total })
const bondOf = (total: bigint): Bond => ({ registered: true, total, reserved: 0n, unstaking: 0n })
const bonds = (...all: (readonly [Address, bigint])[]) =>
  new Map(all.map(([address, total]) => [address, bondOf(total)]))

async function openStores(on: TestDatabase) {
  const { database, coordination } = await on.open()
  const solvers = createSolverStore(database, coordination)
  for (const each of [one, other]) await solvers.save(each, 1, NO_LIMIT)
  return { solvers, store: createBondStore(database, coordination) }
}

describe.each(BOTH_DATABASES)('free bonds %s', (_where, kind) => {
  const create = kind()
  const chainIds = [one.chainId]

  test('of a solver that registers again are stored, although memory has the same value', async () => {
    const { solvers, store } = await openStores(await create())
    const reader = await createFreeBonds(store, chainIds)
    const second = await createFreeBonds(store, chainIds)
    await reader.update(one.chainId, bonds([one.address, 5n], [other.address, 7n]))
    expect(await second.load(one.chainId)).toBe(true)

    await solvers.remove(one, 2)
    await reader.update(one.chainId, bonds([other.address, 6n]))
    await solvers.save(one, 3, NO_LIMIT)
    await second.updateRegistered(one, bondOf(5n))
    expect(await store.readAll(one.chainId)).toEqual(
      new Map([
        [one.address, stored(5n)],
        [other.address, stored(6n)],
      ]),
    )
    for (const replica of [reader, second]) {
      await replica.load(one.chainId)
      expect([replica.of(one), replica.of(other)]).toEqual([5n, 6n])
    }
  })

  test('stay when they change during a load that has read an older state, and are stored after it', async () => {
    const { store } = await openStores(await create())
    await store.save(one.chainId, new Map([[other.address, stored(7n)]]))
    const held = deferred()
    let loads = 0
    const slow: BondStore = {
      ...store,
      async readAll(chainId) {
        const read = await store.readAll(chainId)
        // The second load uses its result after both updates below.
        if (++loads === 2) await held.opened
        return read
      },
    }
    const replica = await createFreeBonds(slow, chainIds)
    const loaded = replica.load(one.chainId)
    await expect.poll(() => loads).toBe(2)
    const updates = [
      replica.update(one.chainId, bonds([other.address, 8n])),
      replica.updateRegistered(one, bondOf(5n)),
    ]
    const seen: (readonly (bigint | undefined)[])[] = []
    const look = () => seen.push([replica.of(one), replica.of(other)])
    const watch = setInterval(look, 0)
    held.open()
    expect(await loaded).toBe(false)
    await Promise.all(updates)
    clearInterval(watch)
    look()
    for (const values of seen) expect(values).toEqual([5n, 8n])
    expect(await replica.load(one.chainId)).toBe(false)
    expect([...(await store.readAll(one.chainId))].sort()).toEqual([
      [one.address, stored(5n)],
      [other.address, stored(8n)],
    ])
  })

  test('are stored by the next write when a write has failed', async () => {
    const { store } = await openStores(await create())
    let isFailing = true
    const faulty: BondStore = {
      ...store,
      save: (chainId, changes) =>
        isFailing ? Promise.reject(new Error('the disk is full')) : store.save(chainId, changes),
    }
    const replica = await createFreeBonds(faulty, chainIds)
    await expect(replica.update(one.chainId, bonds([one.address, 5n]))).rejects.toThrow('the disk is full')
    expect(await replica.load(one.chainId)).toBe(false)
    expect(replica.of(one)).toBe(5n)
    isFailing = false
    await replica.update(one.chainId, bonds([other.address, 7n]))
    expect([...(await store.readAll(one.chainId))].sort()).toEqual([
      [one.address, stored(5n)],
      [other.address, stored(7n)],
    ])
  })
})
