import { setTimeout } from 'node:timers/promises'
import { expect, test } from 'vitest'
import { eventually } from '../../support/eventually.js'
import { connect } from './postgres-stores-samples.js'
import { createCountsDatabase, lockCounts, openCounters } from './rate-limit-tables.js'

const MINUTE_MS = 60_000
const MAX_CONNECTIONS = 4

test('no request waits longer than the timeout for a silent database, and none accumulates there', async () => {
  const timeoutMs = 1000
  const databaseUrl = await createCountsDatabase()
  const client = await connect(databaseUrl)
  const failures: Error[] = []
  const counters = openCounters(databaseUrl, { timeoutMs, onFailure: (error) => failures.push(error) })
  const limiter = counters.limiterOf('quote', 100, MINUTE_MS)
  await lockCounts(databaseUrl)

  async function ask(): Promise<{ consumedPoints: number; waitedMs: number }> {
    const start = performance.now()
    const { consumedPoints } = await limiter.consume('client')
    return { consumedPoints, waitedMs: performance.now() - start }
  }
  // One after the other, so that some wait for a connection when earlier ones give up.
  const asked = []
  for (let index = 0; index < 30; index++) {
    asked.push(ask())
    await setTimeout(timeoutMs / 20)
  }
  const answers = await Promise.all(asked)
  expect(answers.map(({ consumedPoints }) => consumedPoints)).toEqual(answers.map((_, index) => index + 1))
  expect(Math.max(...answers.map(({ waitedMs }) => waitedMs))).toBeLessThan(1.7 * timeoutMs)
  expect(failures).toHaveLength(answers.length)

  const count = `select count(*)::int from pg_stat_activity
    where datname = current_database() and application_name = 'quote-aggregator limits'`
  await eventually(
    async () => (await client.query<{ count: number }>(count)).rows[0]?.count ?? Number.NaN,
    (backends) => backends <= MAX_CONNECTIONS,
  )
})
