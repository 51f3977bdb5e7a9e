import { expect, it } from 'vitest'
import { only } from '../../../../test/support/only.js'
import { NO_USER } from '../../../protocol/src/quotes/quote.js'
import type { ChainParts } from '../../src/chain/chain-parts.js'
import { requestProblem } from '../../src/quoting/request-rules.js'
import type { IncomingRequest } from '../../src/session/wire-forms.js'
import type { Settings } from '../../src/solver-options.js'

const NOW = 2_000_000_000
const USER = '0x70997970c51812dc3a010c7d01b50e0d17dc79c8'
const RULES = { minFillSeconds: 60, maxLockSeconds: 3_600 } as Settings
const CONTRACT = '0xe7f1725e7734ce288f8367e1bb143e90bb3f0512'
const deadline = NOW * 1000 + 1
const request = {
  deadline,
  kind: 'FIRM',
  user: USER,
  depositDeadline: NOW + 300,
  fillDeadline: NOW + 420,
} as const

const partsOf = (blockSeconds: number) =>
  only<ChainParts>({
    chain: { settlement: CONTRACT, tokens: new Map() },
    time: { now: () => NOW, blockSeconds: () => blockSeconds },
  })

/** @param blockSeconds of the chain */
const problemOf = (change: object, blockSeconds = 1) =>
  requestProblem(only<IncomingRequest>({ ...request, ...change }), RULES, partsOf(blockSeconds), NOW * 1000)

it.each<[string, object, number?]>([
  ['a usual one', {}],
  ['the shortest deposit window', { depositDeadline: NOW + 2 }],
  ['the shortest fill window', { depositDeadline: NOW + 360 }],
  ['the longest lock', { fillDeadline: NOW + 3_600 }],
  ['four slow blocks', {}, 30],
  ['a price for nobody', { kind: 'INDICATIVE', user: NO_USER }],
])('a request may be answered: %s', (_title, change, blockSeconds) => {
  expect(problemOf(change, blockSeconds)).toBeUndefined()
})

it.each<[string, object, string, number?]>([
  ['a past deposit deadline', { depositDeadline: NOW + 1 }, 'is not 2 s after'],
  ['a fill window of a second', { depositDeadline: NOW + 300, fillDeadline: NOW + 301 }, '1 s between'],
  ['a fill window of less than four blocks', {}, '120 s between the deadlines are less than 121 s', 30.1],
  ['a lock of more than an hour', { fillDeadline: NOW + 3_601 }, 'more than 3600 s'],
  ['more than 32 bits', { depositDeadline: 2 ** 32, fillDeadline: 2 ** 32 + 120 }, '32 bits'],
  [
    'a deadline of its answer that has passed',
    { deadline: NOW * 1000 },
    'its deadline 2000000000000 is not after',
  ],
  ['the zero address', { user: `0x${'00'.repeat(20)}` }, 'may not get tokens'],
  ['a contract of the swap', { user: CONTRACT }, 'may not get tokens'],
  ['a price for a user', { kind: 'INDICATIVE' }, `the user ${USER}`],
])('a request is not signed: %s', (_title, change, problem, blockSeconds) => {
  expect(problemOf(change, blockSeconds)).toContain(problem)
})
