import { expect, test } from 'vitest'
import { createStatisticsReader } from '../../src/solvers/statistics-reader.js'
import { solverAddress } from '../quoting/sample-trace.js'

const READ_MS = 10
const MIN_KEPT_MS = 2000

/** A reader over empty stores, whose reads take time of the test's clock. */
function startReader() {
  let time = 0
  const statements: string[] = []
  let underWay = 0
  let mostUnderWay = 0
  async function readHours(chainId: number) {
    statements.push(String(chainId))
    mostUnderWay = Math.max(mostUnderWay, ++underWay)
    await Promise.resolve()
    time += READ_MS
    underWay--
    return []
  }
  const reader = createStatisticsReader({
    hours: { readHours },
    orders: { readHours },
    clock: () => time,
    now: () => 1_800_000_000_000,
  })
  return {
    reader,
    statements,
    mostUnderWay: () => mostUnderWay,
    time: () => time,
    pass(ms: number) {
      time += ms
    },
  }
}

test('a result is used again for 50 times as long as its read took', async () => {
  const { reader, statements, time, pass } = startReader()
  await reader.bySolver(1, 720)
  const [first, tookMs] = [statements.length, time()]
  expect(50 * tookMs).toBeGreaterThan(MIN_KEPT_MS)
  pass(50 * tookMs - 1)
  await reader.bySolver(1, 720)
  expect(statements.length).toBe(first)
  pass(1)
  await reader.bySolver(1, 720)
  expect(statements.length).toBe(2 * first)
})

test('different reads run one after the other', async () => {
  const { reader, statements, mostUnderWay } = startReader()
  const solvers = [1, 2, 3].map(solverAddress)
  await Promise.all([
    ...[1, 2].flatMap((chainId) => [24, 720].map((hours) => reader.bySolver(chainId, hours))),
    ...solvers.map((address) => reader.byHour({ chainId: 1, address }, 720)),
  ])
  expect(mostUnderWay()).toBe(1)
  expect(statements.length).toBeGreaterThan(700)
})

test('a month of one solver takes few statements', async () => {
  const { reader, statements } = startReader()
  await reader.byHour({ chainId: 1, address: solverAddress(1) }, 720)
  expect(statements.length).toBeLessThanOrEqual(22)
})
