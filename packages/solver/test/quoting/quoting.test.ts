import { expect, it, vi } from 'vitest'
import type { DeclineCode } from '../../../protocol/src/solvers/solver-result.js'
import type { IncomingRequest } from '../../src/session/wire-forms.js'

import { NEVER, SETTLEMENT, signs, startQuoting, USDC, WETH } from './quoting-fixture.js'

it('a price that never comes is declined once at the deadline, and then its place is free', async () => {
  const prices = Array.from({ length: 64 }, () => NEVER)
  const { clock, metrics, errors, warnings, ask } = startQuoting(
    () => prices.pop() ?? { decline: 'AMOUNT_TOO_SMALL' },
    () => NEVER,
  )
  const answers = Array.from({ length: 64 }, () => ask())
  expect(await ask()).toEqual({ decline: 'PAUSED' })
  await clock.advance(500)
  expect(await Promise.all(answers)).toEqual(answers.map(() => ({ decline: 'OTHER' })))
  expect(await ask(undefined, { deadline: clock.now() + 500 })).toEqual({ decline: 'AMOUNT_TOO_SMALL' })
  expect(metrics).toMatchObject({ requests: 66, declined: 66, quotesFailed: 64, quoted: 0 })
  expect([errors, warnings]).toEqual([[], ['the deadline has passed: it must answer earlier']])
  expect(clock.waiting).toBe(0)
})

it('a signature that never comes is declined at the deadline, and its quote counts no more', async () => {
  const { clock, promised, ask } = startQuoting(
    () => ({ amount: 500n }),
    () => NEVER,
  )
  const answer = ask()
  await clock.advance(499)
  expect(promised.size).toBe(1)
  await clock.advance(1)
  expect(await answer).toEqual({ decline: 'OTHER' })
  expect(promised.size).toBe(0)
})

it('a quote whose deposit deadline passes while it is signed is not sent, and counts no more', async () => {
  const slow = startQuoting(
    () => ({ amount: 500n }),
    (...quote) => {
      slow.pass(300)
      return signs(...quote)
    },
  )
  expect(await slow.ask()).toEqual({ decline: 'OTHER' })
  expect([slow.kept, slow.promised, slow.errors]).toEqual([
    [],
    new Set(),
    ['the account has signed a quote after its deposit deadline'],
  ])
})

it('a quote that is being signed while quotes are cancelled is not sent', async () => {
  const started = startQuoting(
    () => ({ amount: 500n }),
    (...quote) => {
      started.cancel()
      return signs(...quote)
    },
  )
  expect(await started.ask()).toEqual({ decline: 'PAUSED' })
  expect([started.kept, started.promised]).toEqual([[], new Set()])
})

it.each([
  ['EXACT_INPUT', { inputAmount: 1_000n, outputAmount: 500n }],
  ['EXACT_OUTPUT', { inputAmount: 500n, outputAmount: 1_000n }],
] as const)('a price for %s is the amount of the other side', async (orderType, amounts) => {
  const { ask } = startQuoting(() => ({ amount: 500n }), signs)
  expect(await ask(undefined, { orderType })).toMatchObject({ quote: amounts })
})

it('the ledger is asked with what the contract keeps, and with what a day has cost', async () => {
  const { ask, askPrice, shortages } = startQuoting(() => ({ amount: 500n }), signs)
  await ask(undefined, { isForAddress: true })
  await askPrice(0)
  const asked = (isForAddress: boolean) => [expect.objectContaining({ isForAddress }), true, 7n]
  expect(shortages).toEqual([asked(true), asked(false)])
})

it('a request beyond the budget of the event loop is declined with PAUSED, and is not priced', async () => {
  const asked: unknown[] = []
  const quote = (request: unknown) => {
    asked.push(request)
    return { amount: 500n }
  }
  const { ask, metrics } = startQuoting(quote, () => NEVER, false)
  expect(await ask()).toEqual({ decline: 'PAUSED' })
  expect([asked, metrics.declined]).toEqual([[], 1])
})

it('an instance that has left frees the place of its request, and this is no error', async () => {
  const { errors, ask } = startQuoting(
    () => NEVER,
    () => NEVER,
  )
  const leaving = new AbortController()
  const answer = ask(leaving.signal)
  leaving.abort(new Error('the instance has left'))
  expect(await answer).toEqual({ decline: 'OTHER' })
  expect(errors).toEqual([])
})

it('a request whose deadline has passed is declined before its price, and after it', async () => {
  let asked = 0
  const { clock, errors, kept, ask, request } = startQuoting(() => {
    asked++
    // A price that holds up the process: no timer fires meanwhile.
    clock.set(request.deadline)
    return { amount: 500n }
  }, signs)
  expect(await ask(undefined, { deadline: clock.now() })).toEqual({ decline: 'OTHER' })
  expect(asked).toBe(0)
  expect(await ask()).toEqual({ decline: 'OTHER' })
  expect([asked, kept, errors]).toEqual([1, [], []])
})

it('nothing is signed for an instance that leaves before its price is there', async () => {
  const leaving = new AbortController()
  const { kept, promised, ask } = startQuoting(() => {
    leaving.abort()
    return { amount: 500n }
  }, signs)
  expect(await ask(leaving.signal)).toEqual({ decline: 'OTHER' })
  expect([kept, promised]).toEqual([[], new Set()])
})

const ODD_REQUESTS: readonly (readonly [Partial<IncomingRequest>, DeclineCode])[] = [
  [{ user: SETTLEMENT }, 'OTHER'],
  [{ inputToken: USDC }, 'UNSUPPORTED_PAIR'],
  [{ outputToken: WETH, orderType: 'EXACT_OUTPUT' }, 'UNSUPPORTED_PAIR'],
  [{ amount: 0n }, 'AMOUNT_TOO_SMALL'],
]

it.each(ODD_REQUESTS)('a request with %o is declined with %s, and is not priced', async (change, code) => {
  const quote = vi.fn(() => ({ amount: 500n }))
  const { ask } = startQuoting(quote, signs)
  expect(await ask(undefined, change)).toEqual({ decline: code })
  expect(quote).not.toHaveBeenCalled()
})

it('a request whose deadline is far away holds its place for a minute', async () => {
  const { clock, ask, request } = startQuoting(
    () => NEVER,
    () => NEVER,
  )
  const answer = ask(undefined, { deadline: request.deadline + 2 ** 31 })
  await clock.advance(60_000)
  expect(await answer).toEqual({ decline: 'OTHER' })
})

it('requests that are declined have one line a minute for each reason, and are counted', async () => {
  const { clock, ask, lines, metrics } = startQuoting(
    () => ({ amount: 1_000n }),
    () => NEVER,
  )
  const declined = { depositDeadline: 0, deadline: clock.now() + 2 ** 31 }
  for (let asked = 0; asked < 100; asked++) await ask(undefined, declined)
  expect([lines.length, metrics.declined]).toEqual([1, 100])
  await clock.advance(59_999)
  await ask(undefined, declined)
  expect(lines).toHaveLength(1)
  await clock.advance(1)
  await ask(undefined, declined)
  expect(lines).toHaveLength(2)
})

const WRONG_ANSWERS: readonly (readonly [title: string, give: () => unknown, why: string])[] = [
  ['no amount', () => undefined, 'it must return { amount }'],
  ['another thing', () => 5n, 'or decline(code) with one of UNSUPPORTED_PAIR, '],
  ['an unknown code', () => ({ decline: 'NO' }), 'it must return { amount }'],
  ...[0n, 2n ** 256n, 1].map(
    (amount) => [`the amount ${amount}`, () => ({ amount }), 'a bigint of 1 to 2^256-1'] as const,
  ),
  ...[0, '60'].map(
    (expiresInSeconds) =>
      [
        `a time to bind of ${expiresInSeconds}`,
        () => ({ amount: 2_000n, expiresInSeconds }),
        'expiresInSeconds is a number above 0',
      ] as const,
  ),
  [
    'an error',
    () => {
      throw new Error('no table')
    },
    'no table',
  ],
  ['a rejection', () => Promise.reject(new TypeError('no price')), 'no price'],
  ['a rejection with a text', () => Promise.reject('no price'), 'no price'],
]

it.each(WRONG_ANSWERS)(
  '`quote` that gives %s is declined, with one line a minute and no error',
  async (_, give, why) => {
    const { errors, warnings, metrics, promised, ask } = startQuoting(() => give() as never, signs)
    expect([await ask(), await ask()]).toEqual([{ decline: 'OTHER' }, { decline: 'OTHER' }])
    expect(warnings).toEqual([expect.stringContaining(why)])
    expect([errors, metrics.quotesFailed, promised.size]).toEqual([[], 2, 0])
  },
)

it.each([
  ['BOND_SHARE', 'BOND_CANNOT_COVER'],
  ['PAYABLE', 'INSUFFICIENT_LIQUIDITY'],
] as const)('a shortage of %s is declined with %s, and promises nothing', async (shortage, decline) => {
  const { ask, promised } = startQuoting(() => ({ amount: 2_000n }), signs, true, shortage)
  expect(await ask()).toEqual({ decline })
  expect(promised.size).toBe(0)
})
