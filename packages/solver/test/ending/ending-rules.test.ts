import { expect, it } from 'vitest'
import type { Quote } from '../../../protocol/src/quotes/quote.js'
import { endsAfter, isKept } from '../../src/ending/ending-rules.js'

const quote = { inputAmount: 1000n, depositDeadline: 100, fillDeadline: 220 } as Quote
it.each<[boolean, 'NONE' | 'ADDRESS', boolean, number]>([
  [false, 'NONE', true, 100],
  [false, 'ADDRESS', true, 100],
  [true, 'NONE', true, 160],
  [true, 'ADDRESS', true, 160],
  [true, 'NONE', false, 100],
  [true, 'ADDRESS', false, 160],
])(
  'a quote for an address (%s) with its deposit at %s is due, where the contract keeps tokens (%s), after %i',
  (isForAddress, deposit, keepsTokens, time) => {
    expect(endsAfter({ quote, deposit, isForAddress }, keepsTokens)).toBe(time)
  },
)

it.each<[string, number, bigint, boolean, boolean, boolean]>([
  ['without tokens', 161, 0n, true, true, false],
  ['with nine tenths, for its address', 161, 900n, true, true, true],
  ['with less than nine tenths', 161, 899n, true, true, false],
  ['with tokens, for the contract', 161, 1000n, false, true, false],
  ['with tokens that are given back', 161, 1000n, true, false, false],
  ['before its deposit deadline', 100, 0n, false, true, false],
  ['for its address in the first half of its fill window', 160, 0n, true, true, true],
  ['for its address, where tokens are given back', 101, 0n, true, false, false],
])('a quote %s', (_title, time, balance, isForAddress, keepsTokens, expected) => {
  expect(isKept({ quote, isForAddress }, time, balance, keepsTokens)).toBe(expected)
})
