import { describe, expect, test } from 'vitest'
import type { Address } from '../../src/domain/hex.js'
import { noQuoteCounts, type QuoteCounts } from '../../src/domain/solver-statistics.js'
import {
  createSolverHourStore,
  type HourPosition,
  type HourWindow,
  type SolverHour,
} from '../../src/store/solver-hour-store.js'
import { BOTH_DATABASES, type TestDatabase } from './databases.js'

const SOLVERS = ['0x0a', '0x0b', '0x0c'] as const
const WRITERS = ['1b', '1a', '1c'] as const
const ALL = { chainId: 1, since: 0, until: 1_000_000 }

async function openStore(on: TestDatabase) {
  const { database } = await on.open()
  const store = createSolverHourStore(database)
  async function readPages(window: HourWindow): Promise<readonly SolverHour[][]> {
    const pages: SolverHour[][] = []
    let after: HourPosition | undefined
    do {
      const { hours, next } = await store.readPage(window, after)
      pages.push([...hours])
      after = next
    } while (after !== undefined)
    return pages
  }
  return { ...store, readPages, readAll: async (window: HourWindow) => (await readPages(window)).flat() }
}

function counted(counts: Partial<QuoteCounts>): QuoteCounts {
  return { ...noQuoteCounts(), ...counts }
}

function hourOf(hour: number, address: Address, counts: Partial<QuoteCounts> = { quoted: 1 }, chainId = 1) {
  return { chainId, address, hour, counts: counted(counts) }
}

describe.each(BOTH_DATABASES)('the hours of solvers %s', (_where, kind) => {
  const create = kind()

  test('have all that each process has counted', async () => {
    const { save, readAll } = await openStore(await create())
    const counts = { quoted: 1, declined: 2, invalid: 3, failed: 4, late: 5, won: 6 }
    const first = counted({
      ...counts,
      responseTimes: new Map([
        [0, 2],
        [116, 7],
      ]),
    })
    const second = counted({ won: 1 })
    await save(WRITERS[0], [hourOf(7, SOLVERS[0], first)])
    await save(WRITERS[1], [hourOf(7, SOLVERS[0], second)])
    const read = await readAll(ALL)
    expect(read).toHaveLength(2)
    for (const counts of [first, second]) expect(read).toContainEqual({ solver: SOLVERS[0], hour: 7, counts })
  })

  test('stay when a write is repeated, or arrives after a later one', async () => {
    const { save, readAll } = await openStore(await create())
    const early = hourOf(7, SOLVERS[0], { quoted: 2, responseTimes: new Map([[3, 2]]) })
    const late = hourOf(7, SOLVERS[0], {
      quoted: 2,
      won: 1,
      responseTimes: new Map([
        [3, 2],
        [4, 1],
      ]),
    })
    const expected = [{ solver: SOLVERS[0], hour: 7, counts: late.counts }]
    await save(WRITERS[0], [early])
    await save(WRITERS[0], [late])
    expect(await readAll(ALL)).toEqual(expected)
    for (const repeated of [late, early]) {
      await save(WRITERS[0], [repeated])
      expect(await readAll(ALL)).toEqual(expected)
    }
  })

  test('are read in pages, the oldest first, each hour once', async () => {
    const { save, readPages } = await openStore(await create())
    const hours = Array.from({ length: 150 }, (_, index) => index)
    for (const writer of WRITERS)
      await save(
        writer,
        hours.flatMap((hour) => SOLVERS.map((solver) => hourOf(hour, solver))),
      )
    const pages = await readPages({ ...ALL, since: 3, until: 140 })
    const all = pages.flat()
    expect(pages.map(({ length }) => length)).toEqual([300, 300, 300, 300, 33])
    expect(all.map(({ hour }) => hour)).toEqual(hours.slice(3, 140).flatMap((hour) => Array(9).fill(hour)))
    for (const solver of SOLVERS)
      expect(all.filter((each) => each.solver === solver)).toHaveLength(3 * (140 - 3))
    const own = await readPages({ ...ALL, solver: SOLVERS[1] })
    expect(own.map(({ length }) => length)).toEqual([300, 150])
    expect(own.flat().every(({ solver }) => solver === SOLVERS[1])).toBe(true)
    expect(own.flat().map(({ hour }) => hour)).toEqual(hours.flatMap((hour) => Array(3).fill(hour)))
  })

  test('are those of their chain', async () => {
    const { save, readAll } = await openStore(await create())
    await save(WRITERS[0], [hourOf(7, SOLVERS[0]), hourOf(7, SOLVERS[1], { late: 1 }, 11)])
    expect((await readAll(ALL)).map(({ solver }) => solver)).toEqual([SOLVERS[0]])
    expect((await readAll({ ...ALL, chainId: 11 })).map(({ solver }) => solver)).toEqual([SOLVERS[1]])
  })

  test('before one are removed one by one, the oldest first', async () => {
    const { save, removeOldest, readAll } = await openStore(await create())
    await save(
      WRITERS[0],
      [3, 5, 9].flatMap((hour) => SOLVERS.map((solver) => hourOf(hour, solver))),
    )
    await save(WRITERS[1], [hourOf(3, SOLVERS[0], { won: 1 }, 11)])
    const left = async () => [...new Set((await readAll(ALL)).map(({ hour }) => hour))]
    expect([await removeOldest(9), await left()]).toEqual([true, [5, 9]])
    expect(await readAll({ ...ALL, chainId: 11 })).toEqual([])
    expect([await removeOldest(9), await left()]).toEqual([true, [9]])
    expect([await removeOldest(9), await left()]).toEqual([false, [9]])
  })
})
