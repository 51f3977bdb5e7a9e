import { expect, it, vi } from 'vitest'
import { createRoundTraces, toTrace } from '../../../src/auction/records/round-trace.js'
import { attemptOf, sampleRound, signed, solverAddress } from './sample-round.js'

const TRACE = '00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331'
const offer = signed(1, 10n)
const START = 1_799_999_700_000
const round = sampleRound({
  key: 'acme',
  traceparent: `${TRACE}-01`,
  verifyMs: 5,
  attempts: [
    { ...attemptOf(1, { kind: 'quoted', offer }, 3), sentAfterMs: 1 },
    attemptOf(2, { kind: 'declined', status: 422 }, 2),
    attemptOf(3, { kind: 'failed', reason: 'unreachable', message: 'connect ETIMEDOUT 10.0.0.1:80' }, 12.3),
  ],
})

it('a round is a tree of spans, one after the other, without the address of its user', () => {
  const swap = { chainId: 1, inputToken: solverAddress(0xa), outputToken: solverAddress(0xb) }
  const solver = (number: number) => ({ solver: solverAddress(number), quoteId: `id-${number}` })
  const trace = JSON.parse(JSON.stringify(toTrace(round)))
  expect(trace).toEqual({
    parent: `${TRACE}-01`,
    root: {
      name: 'quote',
      kind: 'server',
      startMs: START - 1.5,
      endMs: START + 17.3,
      attributes: {
        quoteId: round.quoteId,
        ...swap,
        orderType: 'EXACT_INPUT',
        amount: '1',
        key: 'acme',
        outcome: 'quoted',
        offers: 1,
      },
      isError: false,
      children: [
        { name: 'wait for its turn', startMs: START - 1.5, endMs: START },
        {
          name: 'round',
          startMs: START,
          endMs: START + 12.3,
          children: [
            {
              ...{ name: 'solver', kind: 'client', startMs: START + 1, endMs: START + 4, isError: false },
              attributes: { ...solver(1), outcome: 'quoted', rank: 1 },
            },
            {
              ...{ name: 'solver', kind: 'client', startMs: START, endMs: START + 2, isError: false },
              attributes: { ...solver(2), outcome: 'declined', httpStatus: 422 },
            },
            {
              ...{ name: 'solver', kind: 'client', startMs: START, endMs: START + 12.3, isError: true },
              attributes: { ...solver(3), outcome: 'failed', reason: 'unreachable' },
            },
          ],
        },
        { name: 'verification', startMs: START + 12.3, endMs: START + 17.3 },
      ],
    },
  })
  expect(JSON.stringify(trace)).not.toContain(round.request.user)
})

it.each([
  ['a key and the flag', 'acme', `${TRACE}-01`, 0, 1],
  ['a key and further flags', 'acme', `${TRACE}-ff`, 0, 1],
  ['a key without the flag', 'acme', `${TRACE}-00`, 1, 0],
  ['a key alone', 'acme', undefined, 1, 1],
  ['the flag alone', undefined, `${TRACE}-01`, 0, 0],
  ['no flag and no key', undefined, `${TRACE}-00`, 1, 1],
])('for a caller with %s, it or the share decides', (_, key, traceparent, share, expected) => {
  const add = vi.fn()
  createRoundTraces({ add, close: async () => {} }, share).onAnswer?.({ ...round, key, traceparent })
  expect(add.mock.calls.map(([spans]) => spans)).toEqual(expected === 1 ? [7] : [])
})
