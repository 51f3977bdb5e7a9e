import { expect, test } from 'vitest'
import { retryAfterMs } from '../../src/chain/retry-after.js'

const NOW = Date.parse('Sun, 22 Nov 2026 08:00:00 GMT')

test.each([
  ['seconds', 429, '7', 7000],
  ['seconds of a node that is busy', 503, '1', 1000],
  ['no time at all', 429, '0', 0],
  ['a date', 503, 'Sun, 22 Nov 2026 08:00:09 GMT', 9000],
  ['a date that has passed', 503, 'Sun, 22 Nov 2026 07:00:00 GMT', 0],
  ['many seconds, of which a minute counts', 429, '86400', 60_000],
  ['a distant date, of which a minute counts', 429, 'Mon, 22 Nov 2027 08:00:00 GMT', 60_000],
  ['what cannot be read', 429, 'soon', 0],
  ['nothing', 429, null, 0],
  ['seconds with another status', 500, '7', 0],
])('Retry-After with %s', (_what, status, header, expected) => {
  expect(retryAfterMs(status, header, NOW)).toBe(expected)
})
