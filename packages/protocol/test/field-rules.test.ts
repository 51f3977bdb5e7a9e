import { expect, test } from 'vitest'
import { CHAIN_ID, DEPOSIT_WINDOW, UINT32, UINT64, UNIX_MS } from '../src/field-rules.js'

test('the rule of an integer names its limits', () => {
  expect([UINT32, UINT64, CHAIN_ID, DEPOSIT_WINDOW, UNIX_MS].map(({ mustBe }) => mustBe)).toEqual([
    'must be an integer of 0 to 4294967295',
    'must be an integer of 0 to 2^53-1',
    'must be an integer of 1 to 2^53-1',
    'must be an integer of 1 to 86400',
    'must be Unix time in milliseconds',
  ])
})
