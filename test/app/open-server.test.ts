import { expect, test } from 'vitest'
import { graceMs } from '../../src/app/open-server.js'
import type { Config } from '../../src/config/config.js'

test.each([
  [2000, 300, 10_000],
  [15_000, 300, 16_300],
  [60_000, 60_000, 121_000],
])(
  'with a quote timeout of %i ms and %i ms for the checks, open requests get %i ms at the end',
  (quoteTimeoutMs, verifyTimeoutMs, expectedMs) => {
    expect(graceMs({ quoteTimeoutMs, verifyTimeoutMs } as Config)).toBe(expectedMs)
  },
)
