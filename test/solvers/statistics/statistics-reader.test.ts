import { expect, test } from 'vitest'
import type { SolverKey } from '../../../packages/protocol/src/solvers/solver.js'
import type { Address } from '../../../packages/protocol/src/values/hex.js'
import { createStatisticsReader } from '../../../src/solvers/statistics/statistics-reader.js'
import { solverAddress } from '../../auction/records/sample-round.js'
import { deferred } from '../../support/deferred.js'
import { createManualClock } from '../../support/manual-clock.js'
import { only } from '../../support/only.js'

const READ_MS = 10
const MIN_KEPT_MS = 2000
const TIMEOUT_MS = 10_000

/** A reader over empty stores, whose statements take time of the test's clock. */
function startReader({ readMs = READ_MS } = {}) {
  const clock = createManualClock()
  const statements: string[] = []
  let underWay = 0
  let mostUnderWay = 0
  async function readHours(chainId: number) {
    statements.push(String(chainId))
    mostUnderWay = Math.max(mostUnderWay, ++underWay)
    await Promise.resolve()
    clock.standStill(readMs)
    underWay--
    return []
  }
  const stores = { solverHours: { readHours }, solverOrders: { readHours } }
  const reader = createStatisticsReader(
    only({ instance: { stores }, clock }),
    only({ find: ({ address }: SolverKey) => ({ address }) }),
  )
  return {
    reader,
    statements,
    mostUnderWay: () => mostUnderWay,
    time: clock.monotonic,
    pass: clock.standStill,
  }
}

const keyOf = (number: number) => ({ chainId: 1, address: solverAddress(number) })

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
  const { reader, statements, mostUnderWay } = startReader({ readMs: 1 })
  await Promise.all([
    ...[1, 2].flatMap((chainId) => [24, 720].map((hours) => reader.bySolver(chainId, hours))),
    ...[1, 2, 3].map((number) => reader.byHour(keyOf(number), 720)),
  ])
  expect(mostUnderWay()).toBe(1)
  expect(statements.length).toBeGreaterThan(700)
})

test('a month of one solver takes few statements', async () => {
  const { reader, statements } = startReader()
  await reader.byHour(keyOf(1), 720)
  expect(statements.length).toBeLessThanOrEqual(12)
})

test('a read that takes too long fails, begins no further statement, and is read again after it', async () => {
  const { reader, statements } = startReader({ readMs: TIMEOUT_MS / 10 })
  await expect(reader.bySolver(1, 720)).rejects.toMatchObject({ reason: 'DATABASE_UNAVAILABLE' })
  expect(statements.length).toBe(10)
  // The time of the second one is over before its turn.
  const others = await Promise.allSettled([reader.bySolver(2, 720), reader.bySolver(2, 24)])
  for (const other of others) expect(other).toMatchObject({ reason: { reason: 'DATABASE_UNAVAILABLE' } })
  expect(statements.length).toBe(20)
  await expect(reader.bySolver(1, 720)).rejects.toMatchObject({ reason: 'DATABASE_UNAVAILABLE' })
  expect(statements.length).toBe(30)
})

test('reads of unregistered solvers delay each other only', async () => {
  const gate = deferred()
  const underWay: string[] = []
  const registered = keyOf(1000)
  const stores = {
    solverHours: {
      async readHours(_chainId: number, _since: number, _until: number, solver?: Address) {
        if (solver !== undefined) underWay.push(solver)
        await gate.opened
        return []
      },
    },
    solverOrders: { readHours: async () => [] },
  }
  const reader = createStatisticsReader(
    only({ instance: { stores }, clock: createManualClock() }),
    only({ find: ({ address }: SolverKey) => (address === registered.address ? registered : undefined) }),
  )
  const reads = [1, 2, 3, 1].map((number) => reader.byHour(keyOf(number), 24))
  reads.push(reader.byHour(registered, 24))
  await expect.poll(() => underWay).toEqual([solverAddress(1), registered.address])
  gate.open()
  await Promise.all(reads)
  expect(underWay.length).toBe(4)
})
