import { expect, test } from 'vitest'
import { rowOf } from './replica-rows.js'

test('a row has exactly the measured figures', () => {
  expect(rowOf('quotes', 'one', { perSecond: 5, cpuMs: 0.5, databaseCpuMs: Number.NaN, ratio: 1 })).toEqual({
    part: 'quotes',
    what: 'one',
    'per second': 5,
    'CPU ms of each': 0.5,
    ratio: 1,
  })
})

test('durations are shown as median, 99th percentile and maximum', () => {
  const times = Array.from({ length: 101 }, (_, index) => 100 - index)
  expect(rowOf('notifications', 'all', { times, databaseCpuMs: 0 })).toEqual({
    part: 'notifications',
    what: 'all',
    'median ms': 50,
    'p99 ms': 99,
    'longest ms': 100,
    "PostgreSQL's CPU ms": 0,
  })
})
