import { describe, expect, test } from 'vitest'
import { createBondStore } from '../../../src/store/solvers/bond-store.js'
import { createSolverStore } from '../../../src/store/solvers/solver-store.js'
import { BOTH_DATABASES, type TestDatabase } from '../databases.js'
import { NO_LIMIT, solver } from './solver-samples.js'

const MAX = 2n ** 256n - 1n

/** The bonds of the solvers 1, 2 and so on. A tenth of each is free. */
const bondsOf = (...totals: readonly (bigint | undefined)[]) =>
  new Map(
    totals.flatMap((total, index) =>
      total === undefined ? [] : [[solver(index + 1).address, { total, free: total / 10n }]],
    ),
  )

/** The store, and the solvers 1 to 3 registered on the chains 1 and 2. */
async function openStore(on: TestDatabase) {
  const { database, coordination } = await on.open()
  const solvers = createSolverStore(database, coordination)
  for (const chainId of [1, 2])
    for (const number of [1, 2, 3]) await solvers.save(solver(number, { chainId }), 1, NO_LIMIT)
  return { store: createBondStore(database, coordination), solvers, database }
}

describe.each(BOTH_DATABASES)('a store of bonds %s', (_where, kind) => {
  const create = kind()

  test('returns what was saved, to the last unit, separately for each chain', async () => {
    const { store } = await openStore(await create())
    await store.save(1, bondsOf(0n, MAX))
    expect(await store.readAll(2)).toEqual(new Map())
    await store.save(2, bondsOf(7n))
    expect([await store.readAll(1), await store.readAll(2)]).toEqual([bondsOf(0n, MAX), bondsOf(7n)])
  })

  test('keeps the last bond of each solver, and the bonds that were not saved again', async () => {
    const { store } = await openStore(await create())
    await store.save(1, bondsOf(1n, 2n))
    await store.save(1, bondsOf(undefined, 20n, 3n))
    expect(await store.readAll(1)).toEqual(bondsOf(1n, 20n, 3n))
  })

  test('removes the bond of a solver that is no longer registered', async () => {
    const { store, solvers, database } = await openStore(await create())
    await store.save(1, bondsOf(1n, 2n))
    await solvers.remove(solver(1), 100)
    expect(await store.readAll(1)).toEqual(bondsOf(undefined, 2n))
    await store.save(1, new Map())
    expect(await database.selectFrom('solver_bonds').select('address').execute()).toHaveLength(1)
  })
})
