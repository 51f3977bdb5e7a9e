import { describe, expect, test } from 'vitest'
import { BOTH_DATABASES } from '../databases.js'
import { contents, openStore, solver } from './solver-samples.js'

describe.each(BOTH_DATABASES)('the limit of solvers %s', (_where, kind) => {
  const create = kind()

  test('counts the solvers that are registered on a chain, and lets them update', async () => {
    const { store } = await openStore(await create())
    const elsewhere = solver(4, { chainId: 2 })
    await store.save(solver(1), 100, 2)
    await store.save(solver(2), 100, 2)
    await store.save(elsewhere, 100, 2)
    await expect(store.save(solver(3), 100, 2)).rejects.toMatchObject({ reason: 'SOLVER_LIMIT_REACHED' })
    const updated = solver(1, { name: 'New' })
    await store.save(updated, 101, 2)
    expect(await contents(store, solver(3))).toEqual({
      solvers: [updated, solver(2), elsewhere],
      timestamps: [undefined],
    })
    await store.remove(solver(1), 102)
    await store.save(solver(3), 100, 2)
    expect(await store.readAll()).toEqual([solver(2), solver(3), elsewhere])
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
})
