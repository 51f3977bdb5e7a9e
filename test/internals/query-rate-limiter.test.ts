import type pg from 'pg'
import { RateLimiterMemory } from 'rate-limiter-flexible'
import { expect, test, vi } from 'vitest'
import { createQueryRateLimiter } from '../../src/internals/pg.js'

const DURATION_S = 60

/** A limiter whose statements get this row, and the statements. */
function createLimiter(row: object) {
  const query = vi.fn(async (_: pg.QueryConfig) => ({ rows: [row], rowCount: 1 }) as pg.QueryResult)
  const limiter = createQueryRateLimiter(query, {
    keyPrefix: 'quote',
    points: 5,
    duration: DURATION_S,
    tableName: 'counts',
    insuranceLimiter: new RateLimiterMemory({ points: 5, duration: DURATION_S }),
  })
  return { limiter, query }
}

test('createQueryRateLimiter passes one named statement for each use, and reads the counts of its row', async () => {
  const expire = Date.now() + 1000 * DURATION_S
  const { limiter, query } = createLimiter({ points: 3, expire })
  expect(await limiter.consume('client', 1)).toMatchObject({ consumedPoints: 3, remainingPoints: 2 })
  expect(await limiter.get('client')).toMatchObject({ consumedPoints: 3, remainingPoints: 2 })
  expect(query.mock.calls).toEqual([
    [
      {
        name: 'counts:rlflx-upsert',
        text: expect.stringMatching(/INSERT INTO "counts" VALUES .* RETURNING points, expire/s),
        values: ['quote:client', 1, expect.any(Number), expect.any(Number)],
      },
    ],
    [
      {
        name: 'counts:rlflx-get',
        text: expect.stringMatching(/SELECT points, expire FROM "counts"/),
        values: ['quote:client', expect.any(Number)],
      },
    ],
  ])
})

test('createQueryRateLimiter rejects a client over its limit', async () => {
  const { limiter } = createLimiter({ points: 6, expire: Date.now() + 1000 * DURATION_S })
  await expect(limiter.consume('client', 1)).rejects.toMatchObject({ consumedPoints: 6, remainingPoints: 0 })
})

test('createQueryRateLimiter counts by its insurance when a statement fails', async () => {
  const { limiter, query } = createLimiter({})
  query.mockRejectedValue(new Error('away'))
  expect(await limiter.consume('client', 2)).toMatchObject({ consumedPoints: 2, remainingPoints: 3 })
})
