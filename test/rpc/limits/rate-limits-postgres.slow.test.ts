import { describe, expect, onTestFinished, test, vi } from 'vitest'
import { systemClock } from '../../../packages/protocol/src/clock.js'
import type { LimitName } from '../../../src/clients/api-key.js'
import { identifyClient } from '../../../src/clients/client-id.js'
import { createRateLimits, type RateLimits } from '../../../src/rpc/limits/rate-limits.js'
import { connect } from '../../store/postgres/postgres-stores-samples.js'
import {
  createCountsDatabase,
  createCountsTable,
  lockCounts,
  openCounters,
} from '../../store/postgres/rate-limit-tables.js'
import { startPostgres } from '../../support/databases/postgres.js'
import { eventually } from '../../support/eventually.js'

const LIMIT = 5
const WINDOW_MS = 60_000
const CONFIG = {
  max: LIMIT,
  windowMs: WINDOW_MS,
  quote: LIMIT,
  price: 0,
  order: LIMIT,
  register: 0,
  unregister: 0,
  solvers: 0,
  results: 0,
  streams: 0,
  sessions: 0,
}
const ALICE = '192.0.2.1'
const BOB = '192.0.2.2'
const CAROL = '192.0.2.3'

/** One replica's limits. */
function openLimits(databaseUrl: string, options: Parameters<typeof openCounters>[1] = {}): RateLimits {
  return createRateLimits(CONFIG, systemClock, openCounters(databaseUrl, options))
}

interface Answer {
  readonly isAccepted: boolean
  readonly headers: Readonly<Record<string, string>>
}

async function ask(limits: RateLimits, address: string, name: LimitName = 'quote'): Promise<Answer> {
  const headers: Record<string, string> = {}
  const setHeader = (header: string, value: string) => {
    headers[header] = value
  }
  try {
    await limits.consume(name, { client: identifyClient(address), setHeader })
    return { isAccepted: true, headers }
  } catch (error) {
    expect(error).toMatchObject({
      reason: 'RATE_LIMITED',
      retryAfterSeconds: Number(headers['retry-after']),
    })
    return { isAccepted: false, headers }
  }
}

async function remaining(limits: RateLimits, address: string, name?: LimitName): Promise<number> {
  return Number((await ask(limits, address, name)).headers['ratelimit-remaining'])
}

const times = <T>(count: number, make: (index: number) => T) =>
  Array.from({ length: count }, (_, index) => make(index))

/** Stops the clock of the windows. */
function stopClock(): void {
  vi.useFakeTimers({ toFake: ['Date'] })
  onTestFinished(() => void vi.useRealTimers())
}

describe('replicas on one database', () => {
  test('accept as many concurrent requests as one replica would', async () => {
    const databaseUrl = await createCountsDatabase()
    const cluster = times(3, () => openLimits(databaseUrl))
    const addresses = times(10, (index) => `192.0.2.${index}`)
    const answers = await Promise.all(
      addresses.flatMap((address) =>
        cluster.flatMap((limits) => times(LIMIT, async () => ({ address, ...(await ask(limits, address)) }))),
      ),
    )
    for (const address of addresses) {
      const accepted = answers.filter((answer) => answer.address === address && answer.isAccepted)
      const left = accepted.map(({ headers }) => Number(headers['ratelimit-remaining']))
      expect(left.sort()).toEqual([0, 1, 2, 3, 4])
    }
  })
})

test('responses have the same headers as with counts in memory, and windows end in the same way', async () => {
  stopClock()
  const databaseUrl = await createCountsDatabase()
  const stores = { memory: createRateLimits(CONFIG, systemClock), postgres: openLimits(databaseUrl) }
  const other = openLimits(databaseUrl)
  const start = Date.now()
  const seen = []
  for (const afterMs of [0, 1, 999, 20_000, 59_000, 59_001, 59_999, 60_000, 60_001, 119_999, 120_000]) {
    vi.setSystemTime(start + afterMs)
    const memory = await ask(stores.memory, ALICE)
    expect(await ask(stores.postgres, ALICE), `after ${afterMs} ms`).toEqual(memory)
    if (!memory.isAccepted) expect(await ask(other, ALICE), `after ${afterMs} ms`).toEqual(memory)
    const { headers } = memory
    seen.push([headers['ratelimit-remaining'], headers['ratelimit-reset'], headers['retry-after']])
  }
  expect(seen).toEqual([
    ['4', '60', undefined],
    ['3', '60', undefined],
    ['2', '60', undefined],
    ['1', '40', undefined],
    ['0', '1', undefined],
    ['0', '1', '1'],
    ['0', '1', '1'],
    ['4', '60', undefined],
    ['3', '60', undefined],
    ['2', '1', undefined],
    ['4', '60', undefined],
  ])
})

test('a client over the limit is rejected without a query; others are counted in memory when the database does not answer', async () => {
  const databaseUrl = await createCountsDatabase()
  const patient = openLimits(databaseUrl)
  const limits = openLimits(databaseUrl, { timeoutMs: 200 })
  for (let index = 0; index < LIMIT; index++) await ask(patient, ALICE)
  await ask(patient, BOB)
  await eventually(
    () => ask(limits, ALICE),
    ({ isAccepted }) => !isAccepted,
  )
  const unlock = await lockCounts(databaseUrl)

  // A query to the database would wait for the lock.
  expect((await ask(patient, ALICE)).isAccepted).toBe(false)
  expect(await ask(limits, ALICE)).toEqual({
    isAccepted: false,
    headers: {
      'ratelimit-limit': '5',
      'ratelimit-remaining': '0',
      'ratelimit-reset': expect.stringMatching(/^\d\d$/),
      'retry-after': expect.stringMatching(/^\d\d$/),
    },
  })
  expect(await remaining(limits, BOB)).toBe(LIMIT - 1)
  expect(await remaining(limits, BOB)).toBe(LIMIT - 2)

  const waiting = remaining(patient, CAROL)
  await unlock()
  expect(await waiting).toBe(LIMIT - 1)
})

test('a database that is known to be down gets no query, and a client over the limit stays over it', async () => {
  const databaseUrl = await createCountsDatabase()
  const client = await connect(databaseUrl)
  let isUp = true
  const failures: Error[] = []
  const limits = openLimits(databaseUrl, { isUp: () => isUp, onFailure: (error) => failures.push(error) })
  for (let index = 0; index < LIMIT; index++) await ask(limits, ALICE)
  await ask(limits, BOB)
  const readCounts = async () => (await client.query('select key, points from rate_limits order by key')).rows
  const counts = await readCounts()
  expect(counts).toEqual([
    { key: `quote:${ALICE}`, points: LIMIT },
    { key: `quote:${BOB}`, points: 1 },
  ])

  isUp = false
  const left = await Promise.all(times(LIMIT, () => remaining(limits, BOB)))
  expect(left).toEqual([4, 3, 2, 1, 0])
  expect((await ask(limits, BOB)).isAccepted).toBe(false)
  expect((await ask(limits, ALICE)).isAccepted).toBe(false)
  expect(await readCounts()).toEqual(counts)

  isUp = true
  expect(await remaining(limits, BOB)).toBe(LIMIT - 2)
  expect(failures).toEqual([])
})

test('counting continues in memory when the database stops, and in the database after it is back', {
  timeout: 30_000,
}, async () => {
  const server = await startPostgres()
  onTestFinished(server.stop)
  await createCountsTable(server.url)
  const failures: Error[] = []
  const one = openLimits(server.url, { onFailure: (error) => failures.push(error) })
  const other = openLimits(server.url)
  expect([await remaining(one, ALICE), await remaining(other, ALICE)]).toEqual([4, 3])

  await server.kill()
  // Its processes end themselves when they notice.
  const firstInMemory = await eventually(
    () => remaining(one, ALICE),
    () => failures.length > 0,
  )
  expect([firstInMemory, await remaining(one, ALICE), await remaining(one, ALICE)]).toEqual([4, 3, 2])
  expect(failures).toHaveLength(3)

  await server.restart()
  // An unlogged table is empty after a crash.
  expect([await remaining(one, ALICE), await remaining(other, ALICE)]).toEqual([4, 3])
  expect(failures).toHaveLength(3)
})
