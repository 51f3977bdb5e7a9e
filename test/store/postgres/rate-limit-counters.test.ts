import { expect, test } from 'vitest'
import { eventually } from '../../support/eventually.js'
import { createManualClock } from '../../support/manual-clock.js'
import { connect } from './postgres-stores-samples.js'
import { createCountsDatabase, openCounters } from './rate-limit-tables.js'

const MINUTE_MS = 60_000

test('windows that ended a minute ago are removed, however many, and later ones stay', async () => {
  const databaseUrl = await createCountsDatabase()
  const client = await connect(databaseUrl)
  const insert = (name: string, rows: number, expire: number) =>
    client.query(`insert into rate_limits select $1 || n, 1, $2 from generate_series(1, $3::int) n`, [
      name,
      expire,
      rows,
    ])
  const clock = createManualClock()
  const now = clock.now() + MINUTE_MS
  await insert('old ', 12_000, now - MINUTE_MS - 1)
  await insert('current ', 2, now + 1)
  await insert('of a late clock ', 1, now - 1)
  const { usedBytes } = openCounters(databaseUrl, { clock })
  expect(await usedBytes()).toBeGreaterThan(12_000 * 40)

  await clock.advance(MINUTE_MS)
  const read = async () => (await client.query('select key from rate_limits order by key')).rows
  const left = await eventually(read, (rows) => rows.length <= 3)
  expect(left.map(({ key }) => key)).toEqual(['current 1', 'current 2', 'of a late clock 1'])
})

test('counts are kept in memory after close, without a query', async () => {
  const databaseUrl = await createCountsDatabase()
  const client = await connect(databaseUrl)
  const { limiterOf, close } = openCounters(databaseUrl)
  const limiter = limiterOf('quote', 2, MINUTE_MS)
  await limiter.consume('client')
  await close()
  expect(await limiter.consume('client')).toMatchObject({ consumedPoints: 1, remainingPoints: 1 })
  expect((await client.query('select key, points from rate_limits')).rows).toEqual([
    { key: 'quote:client', points: 1 },
  ])
})
