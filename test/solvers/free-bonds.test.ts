import { pino } from 'pino'
import { describe, expect, onTestFinished, test } from 'vitest'
import type { TopicListener } from '../../src/domain/cluster.js'
import type { Address } from '../../src/domain/hex.js'
import type { Bond } from '../../src/domain/solver.js'
import { createFreeBonds } from '../../src/solvers/free-bonds.js'
import { type BondStore, createBondStore } from '../../src/store/bond-store.js'
import { createSolverStore } from '../../src/store/solver-store.js'
import { BOTH_DATABASES, type TestDatabase } from '../store/databases.js'
import { NO_LIMIT, solver } from '../store/solver-samples.js'
import { deferred } from '../support/deferred.js'

const one = solver(1)
const other = solver(2)
const log = pino({ level: 'silent' })

const bondOf = (total: bigint): Bond => ({ registered: true, total, reserved: 0n, unstaking: 0n })
const bonds = (...all: (readonly [Address, bigint])[]) =>
  new Map(all.map(([address, total]) => [address, bondOf(total)]))

async function openStores(on: TestDatabase) {
  const { database, coordination } = await on.open()
  const solvers = createSolverStore(database, coordination)
  for (const each of [one, other]) await solvers.save(each, 1, NO_LIMIT)
  return { solvers, store: createBondStore(database, coordination) }
}

/** The free bonds of one replica; `deliver` passes on a message of another one. */
async function openReplica(store: BondStore) {
  let listener: TopicListener | undefined
  let loads = 0
  const counted: BondStore = {
    ...store,
    async readAll(chainId) {
      const read = await store.readAll(chainId)
      loads++
      return read
    },
  }
  const cluster = {
    listen(_topic: unknown, next: TopicListener) {
      listener = next
    },
  }
  const freeBonds = await createFreeBonds({ store: counted, cluster, chainIds: [one.chainId], log })
  onTestFinished(() => freeBonds.close())
  return {
    freeBonds,
    async deliver() {
      const before = loads
      listener?.onMessage(String(one.chainId))
      await expect.poll(() => loads).toBeGreaterThan(before)
      await new Promise((resolve) => setImmediate(resolve))
    },
  }
}

describe.each(BOTH_DATABASES)('free bonds %s', (_where, kind) => {
  const create = kind()

  test('of a solver that registers again are stored, although memory has the same value', async () => {
    const { solvers, store } = await openStores(await create())
    const reader = await openReplica(store)
    const second = await openReplica(store)
    await reader.freeBonds.update(one.chainId, bonds([one.address, 5n], [other.address, 7n]))
    await second.deliver()

    await solvers.remove(one, 2)
    await reader.freeBonds.update(one.chainId, bonds([other.address, 6n]))
    await solvers.save(one, 3, NO_LIMIT)
    await second.freeBonds.updateRegistered(one, bondOf(5n))
    expect(await store.readAll(one.chainId)).toEqual(
      new Map([
        [one.address, 5n],
        [other.address, 6n],
      ]),
    )
    for (const replica of [reader, second]) {
      await replica.deliver()
      expect([replica.freeBonds.of(one), replica.freeBonds.of(other)]).toEqual([5n, 6n])
    }
  })

  test('that are stored during a load stay, although the load has read an older state', async () => {
    const { store } = await openStores(await create())
    const saves: Promise<void>[] = []
    const begun = deferred()
    const slow: BondStore = {
      async readAll(chainId) {
        const read = await store.readAll(chainId)
        // Both updates below are stored before the load uses its result.
        if (saves.length > 0) await expect.poll(() => saves.length).toBe(2)
        await Promise.all(saves)
        return read
      },
      save(chainId, bonds) {
        const save = (saves.length === 0 ? begun.opened : Promise.resolve()).then(() =>
          store.save(chainId, bonds),
        )
        saves.push(save)
        return save
      },
    }
    const replica = await openReplica(slow)
    const first = replica.freeBonds.update(one.chainId, bonds([other.address, 7n]))
    await expect.poll(() => saves.length).toBe(1)
    const delivered = replica.deliver()
    const second = replica.freeBonds.updateRegistered(one, bondOf(5n))
    begun.open()
    const seen: (bigint | undefined)[] = []
    const watch = setInterval(() => seen.push(replica.freeBonds.of(one)), 0)
    await Promise.all([first, second, delivered])
    clearInterval(watch)
    expect([...seen, replica.freeBonds.of(one)]).not.toContain(undefined)
  })
})
