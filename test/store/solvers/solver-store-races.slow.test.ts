import { describe, expect, test } from 'vitest'
import type { ServiceError } from '../../../packages/protocol/src/errors.js'
import { createSolverLists } from '../../../src/store/operator/listed-solvers.js'
import { createRandom } from '../../support/random.js'
import { inPostgres, postgresAt } from '../databases.js'
import { contents, NO_LIMIT, NOTED_AT, openReplicas, openStore, solver } from './solver-samples.js'

const SEED = 20_260_107
const ROUNDS = 12

const random = createRandom(SEED)
const create = inPostgres()

/** Runs works in parallel, started in any order. @returns the result of each: `done`, or its error reason */
async function race<T>(...works: (() => Promise<T>)[]): Promise<string[]> {
  const order = works.map((work, index) => ({ work, index, delay: random.integer(0, 1000) }))
  const results: string[] = []
  await Promise.all(
    order
      .sort((a, b) => a.delay - b.delay)
      .map(async ({ work, index }) => {
        results[index] = await work().then(
          () => 'done',
          (error: ServiceError) => error.reason ?? error.message,
        )
      }),
  )
  return results
}

describe('simultaneous calls of replicas', () => {
  test('for more solvers than a chain may have accept exactly the limit', async () => {
    const [a, b] = await openReplicas(await create())
    const solvers = Array.from({ length: 24 }, (_, number) => solver(number))
    const elsewhere = Array.from({ length: 7 }, (_, number) => solver(100 + number, { chainId: 2 }))
    const saves = [...solvers, ...elsewhere].map(
      (each, index) => () => (index % 2 === 0 ? a : b).save(each, 100, 7),
    )
    const results = await race(...saves)
    expect(results.slice(24)).toEqual(elsewhere.map(() => 'done'))
    const isTaken = results.slice(0, 24).map((result) => result === 'done')
    expect(isTaken.filter(Boolean)).toHaveLength(7)
    expect(results.filter((result) => result === 'SOLVER_LIMIT_REACHED')).toHaveLength(17)
    expect(await contents(b, ...solvers)).toEqual({
      solvers: [...solvers.filter((_, index) => isTaken[index]), ...elsewhere],
      timestamps: isTaken.map((is) => (is ? 100 : undefined)),
    })
  })

  test('with the same message accept it once', async () => {
    const [a, b] = await openReplicas(await create())
    for (let timestamp = 100; timestamp < 100 + ROUNDS; timestamp++) {
      const results = await race(
        () => a.save(solver(1), timestamp, NO_LIMIT),
        () => b.save(solver(1), timestamp, NO_LIMIT),
      )
      expect(results.sort()).toEqual(['TIMESTAMP_REUSED', 'done'])
      expect(await a.lastTimestamp(solver(1))).toBe(timestamp)
    }
  })

  test.each([
    ['a removal after an update leave the solver removed', 1, 2],
    ['an update after a removal leave the solver registered', 2, 1],
  ])('with %s, in any order', async (_what, saved, removed) => {
    const [a, b] = await openReplicas(await create())
    for (let timestamp = 100; timestamp < 100 + 3 * ROUNDS; timestamp += 3) {
      await b.save(solver(1), timestamp, NO_LIMIT)
      const [save, removal] = await race<unknown>(
        () => a.save(solver(1, { name: 'New' }), timestamp + saved, NO_LIMIT),
        () => b.remove(solver(1), timestamp + removed),
      )
      const [later, earlier] = saved > removed ? [save, removal] : [removal, save]
      expect(later).toBe('done')
      expect(['done', 'TIMESTAMP_REUSED']).toContain(earlier)
      const left = saved > removed ? [solver(1, { name: 'New' })] : []
      expect(await contents(a, solver(1))).toEqual({ solvers: left, timestamps: [timestamp + 2] })
    }
  })

  test('with a removal and a solver for its place never exceed the limit', async () => {
    const [a, b] = await openReplicas(await create())
    let [inside, outside] = [solver(1), solver(2)]
    await a.save(inside, 99, 1)
    for (let timestamp = 100; timestamp < 100 + ROUNDS; timestamp++) {
      const [, save] = await race<unknown>(
        () => a.remove(inside, timestamp),
        () => b.save(outside, timestamp, 1),
      )
      const left = await a.readAll()
      expect(left).toEqual(save === 'done' ? [outside] : [])
      if (save !== 'done') {
        expect(save).toBe('SOLVER_LIMIT_REACHED')
        await b.save(outside, timestamp, 1)
      }
      ;[inside, outside] = [outside, inside]
    }
  })

  test('with a restored bond and a new solver for its place never replace a solver with a bond', async () => {
    const [a, b] = await openReplicas(await create())
    for (let number = 1; number <= ROUNDS; number++) {
      const [old, newcomer] = [solver(2 * number), solver(2 * number + 1)]
      await a.save(old, 100, 1)
      await a.setBonded(old, false, NOTED_AT)
      const replaceable = { addresses: [old.address], unbondedBefore: NOTED_AT + 1 }
      const [save] = await race<unknown>(
        () => a.save(newcomer, 100, 1, replaceable),
        () => b.setBonded(old, true, NOTED_AT),
      )
      expect(await b.readAll()).toEqual([save === 'done' ? newcomer : old])
      await b.remove(save === 'done' ? newcomer : old, 101)
    }
  })

  test('with a registration and its block leave the address blocked and not registered', async () => {
    const on = postgresAt((await create()).url)
    const { database, coordination } = await on.open()
    const { blocked: blockedSolvers } = createSolverLists(database, coordination)
    const { store } = await openStore(on)
    for (let timestamp = 100; timestamp < 100 + ROUNDS; timestamp++) {
      const [save] = await race<unknown>(
        () => store.save(solver(1), timestamp, NO_LIMIT),
        () => blockedSolvers.add({ address: solver(1).address, chainId: undefined, listedAt: NOTED_AT }),
      )
      expect(['done', 'SOLVER_BLOCKED']).toContain(save)
      expect(await store.readAll()).toEqual([])
      await blockedSolvers.remove(solver(1).address, undefined)
    }
  })
})
