import { expect, it } from 'vitest'
import type { Quote } from '../../../protocol/src/quotes/quote.js'
import { decideEnd, endsAfter } from '../../src/ending/ending-rules.js'

const quote = { inputAmount: 1000n, depositDeadline: 100, fillDeadline: 220 } as Quote
const facts = {
  time: 161,
  balance: 0n,
  canSettle: false,
  isSpared: false,
  keepsTokens: true,
}
const decide = (change: object, isForAddress = true) =>
  decideEnd({ quote, isForAddress }, { ...facts, ...change })

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

it.each<[string, object, boolean, string]>([
  ['without tokens', {}, true, 'CANCEL'],
  ['with tokens that can be settled', { balance: 1000n, canSettle: true }, true, 'PAY'],
  ['with nine tenths, for its address', { balance: 900n }, true, 'KEEP'],
  ['with less than nine tenths', { balance: 899n }, true, 'CANCEL'],
  ['with tokens, for the contract', { balance: 1000n }, false, 'CANCEL'],
  ['with tokens that are given back', { balance: 1000n, keepsTokens: false }, true, 'CANCEL'],
  ['that is spared', { isSpared: true }, true, 'KEEP'],
  ['before its deposit deadline', { time: 100 }, false, 'CANCEL'],
  ['for its address in the first half of its fill window', { time: 160 }, true, 'KEEP'],
  ['for its address, where tokens are given back', { time: 101, keepsTokens: false }, true, 'CANCEL'],
])('a quote %s', (_title, change, isForAddress, decision) => {
  expect(decide(change, isForAddress)).toBe(decision)
})
