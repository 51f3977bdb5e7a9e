import { pino } from 'pino'
import { expect, test } from 'vitest'
import type { SolverKey } from '../../../packages/protocol/src/solvers/solver.js'
import { noQuoteCounts } from '../../../packages/protocol/src/solvers/solver-statistics.js'
import { createSolverStatistics, pruneSomeCounts } from '../../../src/solvers/statistics/hourly-counts.js'
import type { SolverOrderStore } from '../../../src/store/orders/solver-order-store.js'
import { createSolverHourStore } from '../../../src/store/solvers/solver-hour-store.js'
import { solverAddress } from '../../auction/records/sample-round.js'
import { sqliteAt } from '../../store/databases.js'
import { createManualClock } from '../../support/manual-clock.js'
import { only } from '../../support/only.js'

const HOUR_MS = 3_600_000
const WRITE_MS = 5000
const KEPT_HOURS = 31 * 24
const KEPT_IN_MEMORY = 10_000
const NOW_HOUR = 500_000

const key = (number: number, chainId = 1): SolverKey => ({ chainId, address: solverAddress(number) })

/** Statistics over a database that a test can take away, with a clock that it can set. */
async function start() {
  const { database } = await sqliteAt(':memory:').open()
  const store = createSolverHourStore(database)
  const lines: { msg: string; lost?: number }[] = []
  const log = pino({ level: 'info' }, { write: (line) => void lines.push(JSON.parse(line)) })
  const clock = createManualClock(NOW_HOUR * HOUR_MS)
  const on = { isAway: false }
  const open = () =>
    createSolverStatistics(
      {
        ...store,
        async save(rows) {
          if (on.isAway) throw new Error('the database is away')
          return store.save(rows)
        },
      },
      clock,
      log,
    )
  /** The stored hours of chain 1. */
  const read = () => store.readHours(1, 0, 2 * NOW_HOUR)
  const quoted = async () => (await read()).map(({ hour, counts }) => [hour, counts.quoted])
  return { on, clock, store, lines, open, read, quoted }
}

test('hours before the last 31 days are removed, those of quotes and of orders, and no others', async () => {
  const { store, quoted } = await start()
  const counts = { ...noQuoteCounts(), quoted: 1 }
  const ages = [KEPT_HOURS + 2, KEPT_HOURS + 1, KEPT_HOURS, 200, 1]
  await store.save(ages.map((age) => ({ ...key(1), hour: NOW_HOUR - age, writer: 'other', counts })))
  const firstKept: number[] = []
  const orders = only<SolverOrderStore>({
    pruneSomeHours: async (hour: number) => firstKept.push(hour) < 3,
  })
  while (await pruneSomeCounts(store, orders, NOW_HOUR * HOUR_MS));
  expect(await quoted()).toEqual([KEPT_HOURS, 200, 1].map((age) => [NOW_HOUR - age, 1]))
  expect(firstKept).toEqual(Array(3).fill(NOW_HOUR - KEPT_HOURS))
})

test('an hour gets all its counts when the clock is set back to it', async () => {
  const { clock, open, quoted } = await start()
  const statistics = open()
  const solver = key(1)
  statistics.count(solver, 'quoted', 5)
  statistics.count(solver, 'quoted', 5)
  await clock.advance(WRITE_MS)
  await expect.poll(quoted).toEqual([[NOW_HOUR, 2]])
  clock.set(clock.now() + HOUR_MS)
  statistics.count(solver, 'quoted', 5)
  await clock.advance(WRITE_MS)
  await expect.poll(quoted).toEqual([
    [NOW_HOUR, 2],
    [NOW_HOUR + 1, 1],
  ])
  clock.set(clock.now() - HOUR_MS)
  statistics.count(solver, 'quoted', 5)
  await statistics.close()
  expect(await quoted()).toEqual([
    [NOW_HOUR, 3],
    [NOW_HOUR + 1, 1],
  ])
})

test('counts that could not be stored wait', async () => {
  const { on, clock, open, read } = await start()
  const statistics = open()
  on.isAway = true
  statistics.count(key(1), 'quoted', 5)
  await clock.advance(WRITE_MS)
  clock.set(clock.now() + HOUR_MS)
  statistics.count(key(1), 'quoted', 5)
  await clock.advance(WRITE_MS)
  on.isAway = false
  await clock.advance(WRITE_MS)
  await expect.poll(async () => (await read()).map(({ hour }) => hour)).toEqual([NOW_HOUR, NOW_HOUR + 1])
  await statistics.close()
})

test('an hour that made room for others and is counted again has all its counts', async () => {
  const { clock, open, read } = await start()
  const statistics = open()
  const count = (number: number) => statistics.count(key(number), 'quoted', 5)
  for (const times of [2, 1]) {
    for (let time = 1; time <= times; time++) count(1)
    await clock.advance(WRITE_MS)
    await expect.poll(async () => (await read()).some(({ solver }) => solver === solverAddress(1))).toBe(true)
    for (let number = 2; number <= KEPT_IN_MEMORY + 1; number++) count(number)
  }
  await statistics.close()
  const ofFirst = (await read()).filter(({ solver }) => solver === solverAddress(1))
  expect(ofFirst.reduce((sum, { counts }) => sum + counts.quoted, 0)).toBe(3)
})

test('while the database is away, the hours that were counted longest ago make room for others, and the log has their number', async () => {
  const { on, clock, lines, open, read } = await start()
  const statistics = open()
  const count = (number: number) => statistics.count(key(number), 'quoted', 5)
  on.isAway = true
  for (let number = 1; number <= KEPT_IN_MEMORY; number++) count(number)
  await clock.advance(WRITE_MS)
  for (const number of [1, KEPT_IN_MEMORY + 1, KEPT_IN_MEMORY + 2]) count(number)
  on.isAway = false
  await clock.advance(WRITE_MS)
  await expect.poll(() => lines.at(-1)).toMatchObject({ msg: 'counts of solvers are stored again', lost: 2 })
  const stored = new Set((await read()).map(({ solver }) => solver))
  expect(stored.size).toBe(KEPT_IN_MEMORY)
  expect([1, 2, 3, 4].filter((number) => stored.has(solverAddress(number)))).toEqual([1, 4])
  await statistics.close()
})
