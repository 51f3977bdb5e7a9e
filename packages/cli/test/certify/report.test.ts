import { expect, it } from 'vitest'
import { latencyOf } from '../../src/certify/report.js'

it('percentiles are response times of the nearest rank', () => {
  const replies = Array.from({ length: 200 }, (_, index) => ({ tookMs: 200 - index }))
  expect(latencyOf(replies)).toEqual({ count: 200, p50: 100, p95: 190, p99: 198 })
  expect(latencyOf([{ tookMs: 1.26 }])).toEqual({ count: 1, p50: 1.3, p95: 1.3, p99: 1.3 })
})
