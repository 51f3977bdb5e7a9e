import { describe, expect, test } from 'vitest'
import {
  addResponseTime,
  noQuoteCounts,
  noResponseTimes,
  type QuoteCounts,
} from '../../../packages/protocol/src/solvers/solver-statistics.js'
import type { Address } from '../../../packages/protocol/src/values/hex.js'
import { createSolverHourStore } from '../../../src/store/solvers/solver-hour-store.js'
import { BOTH_DATABASES, type TestDatabase } from '../databases.js'

const SOLVERS = ['0x0a', '0x0b', '0x0c'] as const
const WRITERS = ['1b', '1a', '1c'] as const
const LAST = 1_000_000

async function openStore(on: TestDatabase) {
  const { database } = await on.open()
  const store = createSolverHourStore(database)
  return {
    ...store,
    save: (writer: string, hours: readonly ReturnType<typeof hourOf>[]) =>
      store.save(hours.map((hour) => ({ ...hour, writer }))),
    readAll: (chainId = 1) => store.readHours(chainId, 0, LAST),
  }
}

function counted(counts: Partial<QuoteCounts>): QuoteCounts {
  return { ...noQuoteCounts(), ...counts }
}

/** Response times in milliseconds. */
function timesOf(...all: readonly number[]) {
  const times = noResponseTimes()
  for (const ms of all) addResponseTime(times, ms)
  return times
}

function hourOf(hour: number, address: Address, counts: Partial<QuoteCounts> = { quoted: 1 }, chainId = 1) {
  return { chainId, address, hour, counts: counted(counts) }
}

describe.each(BOTH_DATABASES)('the hours of solvers %s', (_where, kind) => {
  const create = kind()

  test('have all that each process has counted', async () => {
    const { save, readAll } = await openStore(await create())
    const counts = {
      quoted: 1,
      declined: 2,
      invalid: 3,
      failed: 4,
      late: 5,
      soft_deadline: 7,
      won: 6,
      won_alone: 8,
    }
    const first = counted({
      ...counts,
      responseTimes: timesOf(0.5, 0.5, 70_000),
    })
    const second = counted({ won: 1 })
    await save(WRITERS[0], [hourOf(7, SOLVERS[0], first)])
    await save(WRITERS[1], [hourOf(7, SOLVERS[0], second)])
    const read = await readAll()
    expect(read).toHaveLength(2)
    for (const counts of [first, second]) expect(read).toContainEqual({ solver: SOLVERS[0], hour: 7, counts })
  })

  test('stay when a write is repeated, or arrives after a later one', async () => {
    const { save, readAll } = await openStore(await create())
    const early = hourOf(7, SOLVERS[0], { quoted: 2, responseTimes: timesOf(1.3, 1.3) })
    const late = hourOf(7, SOLVERS[0], {
      quoted: 2,
      won: 1,
      responseTimes: timesOf(1.3, 1.3, 200),
    })
    const expected = [{ solver: SOLVERS[0], hour: 7, counts: late.counts }]
    await save(WRITERS[0], [early])
    await save(WRITERS[0], [late])
    expect(await readAll()).toEqual(expected)
    for (const repeated of [late, early]) {
      await save(WRITERS[0], [repeated])
      expect(await readAll()).toEqual(expected)
    }
  })

  test('are those of a window, of one solver or of all', async () => {
    const { save, readHours } = await openStore(await create())
    for (const writer of WRITERS)
      await save(
        writer,
        [1, 2, 3, 4].flatMap((hour) => SOLVERS.map((solver) => hourOf(hour, solver))),
      )
    const read = async (solver?: Address) =>
      (await readHours(1, 2, 4, solver)).map((each) => `${each.hour} ${each.solver}`).sort()
    const expected = [2, 3].flatMap((hour) => SOLVERS.map((solver) => `${hour} ${solver}`))
    expect(await read()).toEqual(expected.flatMap((each) => Array(WRITERS.length).fill(each)))
    expect(await read(SOLVERS[1])).toEqual([2, 3].flatMap((hour) => Array(3).fill(`${hour} ${SOLVERS[1]}`)))
  })

  test('are those of their chain', async () => {
    const { save, readAll } = await openStore(await create())
    await save(WRITERS[0], [hourOf(7, SOLVERS[0]), hourOf(7, SOLVERS[1], { late: 1 }, 11)])
    expect((await readAll()).map(({ solver }) => solver)).toEqual([SOLVERS[0]])
    expect((await readAll(11)).map(({ solver }) => solver)).toEqual([SOLVERS[1]])
  })

  test('before one are removed one by one, the oldest first', async () => {
    const { save, removeOldest, readAll } = await openStore(await create())
    await save(
      WRITERS[0],
      [3, 5, 9].flatMap((hour) => SOLVERS.map((solver) => hourOf(hour, solver))),
    )
    await save(WRITERS[1], [hourOf(3, SOLVERS[0], { won: 1 }, 11)])
    const left = async () => [...new Set((await readAll()).map(({ hour }) => hour))]
    expect([await removeOldest(9), await left()]).toEqual([true, [5, 9]])
    expect(await readAll(11)).toEqual([])
    expect([await removeOldest(9), await left()]).toEqual([true, [9]])
    expect([await removeOldest(9), await left()]).toEqual([false, [9]])
  })
})
