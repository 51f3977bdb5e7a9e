import { setMaxListeners } from 'node:events'
import { privateKeyToAccount } from 'viem/accounts'
import { expect, it, vi } from 'vitest'
import { createManualClock } from '../../../../test/support/manual-clock.js'
import { only } from '../../../../test/support/only.js'
import { NO_USER, type Quote } from '../../../protocol/src/quotes/quote.js'
import type { DeclineCode } from '../../../protocol/src/solvers/solver-result.js'
import type { ChainRun } from '../../src/chain/chain-run.js'
import { createMetrics } from '../../src/monitoring.js'
import type { SolverQuote } from '../../src/orders/order-terms.js'
import type { QuoteSigner } from '../../src/quoting/quote-signer.js'
import { createQuoting } from '../../src/quoting/quoting.js'
import type { IncomingRequest } from '../../src/session/wire-forms.js'
import type { SolverOptions } from '../../src/solver-options.js'
import type { SolverParts } from '../../src/solver-parts.js'
import { createOnceAMinute } from '../../src/waiting.js'

const WETH = '0x9fe46736679d2d9a65f0992f2272de9f3c7fa6e0'
const USDC = '0xcf7ed3acca5a467e9e704c703e8d87f634fb0fc9'
const SETTLEMENT = '0xe7f1725e7734ce288f8367e1bb143e90bb3f0512'
const CHAIN_ID = 1
const account = privateKeyToAccount(`0x${'11'.repeat(32)}`)
const NEVER = new Promise<never>(() => {})

/** The answers of a solver with one chain, which pauses for nothing and has all funds. */
function startQuoting(
  quote: SolverOptions['quote'],
  sign: QuoteSigner['sign'],
  hasRoom = true,
  shortage?: ReturnType<ChainRun['ledger']['shortageFor']>,
) {
  const clock = createManualClock()
  const { signal } = new AbortController()
  setMaxListeners(0, signal)
  const metrics = createMetrics()
  const errors: string[] = []
  const lines: object[] = []
  const warnings: string[] = []
  /** The nonces of the quotes that count. */
  const promised = new Set<bigint>()
  const open = new Map<bigint, { quote: Quote; deposit: 'NONE' | 'CONTRACT' }>()
  const kept: { user: string; nonce: bigint; isForAddress: boolean }[] = []
  let passed = 0
  const now = Math.floor(clock.now() / 1000)
  const run = only<ChainRun>({
    chain: {
      chainId: CHAIN_ID,
      settlement: SETTLEMENT,
      tokens: new Map([WETH, USDC].map((token) => [token, 0n])),
      minOrder: 0n,
    },
    time: { now: () => now + passed, blockSeconds: () => 1 },
    pauseFor: () => undefined,
    addresses: { keepsTokens: () => false },
    losses: { ofDay: () => 0n },
    ledger: {
      shortageFor: () => shortage,
      promise: (asked: { quote: { nonce: bigint } }) => promised.add(asked.quote.nonce),
      withdraw: ({ nonce }: { nonce: bigint }) => void (open.has(nonce) || promised.delete(nonce)),
      bondOf: ({ outputAmount }: { outputAmount: bigint }) => outputAmount / 20n,
      quotes: () => open.values(),
      add({ quote, isForAddress }: SolverQuote) {
        if (!open.has(quote.nonce)) open.set(quote.nonce, { quote, deposit: 'NONE' })
        kept.push({ user: quote.user, nonce: quote.nonce, isForAddress })
      },
    },
    books: { quoted() {} },
    ending: { timesCancelled: () => 0 },
  })
  const parts = only<SolverParts>({
    options: { minFillSeconds: 60, maxLockSeconds: 3_600, quote },
    account,
    clock,
    metrics,
    isDue: createOnceAMinute(clock),
    log: {
      debug() {},
      info: (line: object) => void lines.push(line),
      warn: (line: object) => void warnings.push((line as { why: string }).why),
      error() {},
    },
    onError: (error: unknown) => void errors.push((error as Error).message),
    signal,
  })
  const quoting = createQuoting(parts, new Map([[CHAIN_ID, run]]), sign, { take: () => hasRoom })
  const request: IncomingRequest = {
    kind: 'FIRM',
    inputToken: WETH,
    outputToken: USDC,
    orderType: 'EXACT_INPUT',
    amount: 1_000n,
    user: account.address,
    chainId: CHAIN_ID,
    destinationChainId: CHAIN_ID,
    depositMode: 'CONTRACT',
    isForAddress: false,
    depositDeadline: now + 300,
    fillDeadline: now + 420,
    id: undefined,
    deadline: clock.now() + 500,
  }
  return {
    clock,
    metrics,
    errors,
    lines,
    warnings,
    promised,
    open,
    kept,
    request,
    /** Time goes on, in seconds. */
    pass(seconds: number): void {
      passed += seconds
    },
    ask: (signal?: AbortSignal, change: Partial<IncomingRequest> = {}) =>
      quoting({ ...request, ...change }, 'SESSION', signal),
    /** Asks for a price, so many seconds later. */
    async askPrice(later: number, outputToken: IncomingRequest['outputToken'] = USDC) {
      passed = later
      const deadlines = { depositDeadline: now + later + 300, fillDeadline: now + later + 420 }
      const inputToken: IncomingRequest['inputToken'] = outputToken === USDC ? WETH : USDC
      const price = { kind: 'INDICATIVE', user: NO_USER, isForAddress: true, depositMode: 'ADDRESS' } as const
      return quoting({ ...request, ...deadlines, inputToken, outputToken, ...price }, 'SESSION')
    },
  }
}

it.each<[string, number | undefined, { after: number; min?: number }, number]>([
  ['binds for as long as its maker says', 60, { after: 0, min: 60 }, 60],
  ['binds from now on', 60.5, { after: 1, min: 60 }, 62],
  ['binds no shorter than asked', 10, { after: 0, min: 30 }, 30],
  ['binds no longer than asked', 1000, { after: 0, min: 60 }, 300],
  ['binds for the whole window when its maker does not say', undefined, { after: 0, min: 60 }, 300],
  ['binds for the whole window when the request does not allow less', 60, { after: 0 }, 300],
  ['of an instance that mixes up its deadlines binds for the window', 60, { after: 0, min: 400 }, 300],
])('a price %s: %s s of %j, until %d', async (_how, expiresInSeconds, { after, min }, until) => {
  const { ask, request, pass } = startQuoting(() => ({ amount: 2_000n, expiresInSeconds }), signs)
  const start = request.depositDeadline - 300
  pass(after)
  const answer = await ask(undefined, { minDepositDeadline: min && start + min })
  const deadlines = { depositDeadline: start + until, fillDeadline: start + until + 120 }
  expect(answer).toMatchObject({ quote: deadlines })
})

it('a time to bind that is no number above 0 is declined, and said', async () => {
  for (const expiresInSeconds of [0, Number.NaN, '60' as unknown as number]) {
    const { ask, warnings } = startQuoting(() => ({ amount: 2_000n, expiresInSeconds }), signs)
    expect(await ask()).toEqual({ decline: 'OTHER' })
    expect(warnings).toEqual([expect.stringContaining('expiresInSeconds is a number above 0')])
  }
})

it('a price that would bind for less than 2 s is declined', async () => {
  const { ask, request } = startQuoting(() => ({ amount: 2_000n, expiresInSeconds: 1 }), signs)
  const minDepositDeadline = request.depositDeadline - 299
  expect(await ask(undefined, { minDepositDeadline })).toEqual({ decline: 'OTHER' })
})

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

const signs: QuoteSigner['sign'] = async (_chain, quote) =>
  ({ chainId: CHAIN_ID, quote, signature: '0x', orderId: '0x', depositAddress: WETH }) as const

it('prices are kept as quotes are, and those of an output token share a nonce until the first one is over', async () => {
  const { kept, open, promised, askPrice } = startQuoting(() => ({ amount: 500n }), signs)
  await askPrice(0)
  await askPrice(100)
  await askPrice(0, WETH)
  await askPrice(300)
  await askPrice(301)
  const nonces = kept.map(({ nonce }) => nonce)
  const [usdc, , weth, , next] = nonces
  expect(nonces).toEqual([usdc, usdc, weth, usdc, next])
  expect(new Set([usdc, weth, next]).size).toBe(3)
  expect(promised).toEqual(new Set([usdc, weth, next]))
  // No user of a price is waited for at a deposit address.
  expect(kept.every(({ isForAddress, user }) => !isForAddress && user === NO_USER)).toBe(true)
  open.clear()
  await askPrice(302)
  expect(nonces).not.toContain(kept.at(-1)?.nonce)
})

it('a quote is never signed with the nonce of a price, and one that reserves no bond is too small', async () => {
  const amounts = [500n, 500n, 19n]
  const { kept, ask, askPrice } = startQuoting(() => ({ amount: amounts.shift() ?? 1n }), signs)
  await askPrice(0)
  await ask()
  expect(new Set(kept.map(({ nonce }) => nonce)).size).toBe(2)
  expect(await ask()).toEqual({ decline: 'AMOUNT_TOO_SMALL' })
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
  ...(['0x0000000000000000000000000000000000000000', SETTLEMENT, WETH, USDC] as const).map(
    (user) => [{ user }, 'OTHER'] as const,
  ),
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
  ...[0n, -1n, 2n ** 256n, 1, Number.NaN, '5', null].map(
    (amount) => [`the amount ${amount}`, () => ({ amount }), 'a bigint of 1 to 2^256-1'] as const,
  ),
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

it('`quote` that throws before it returns a promise is declined as well', async () => {
  const { errors, warnings, ask } = startQuoting(() => {
    throw new Error('no table')
  }, signs)
  expect(await ask()).toEqual({ decline: 'OTHER' })
  expect([errors, warnings]).toEqual([[], ['no table']])
})

it.each([
  ['BOND_SHARE', 'BOND_CANNOT_COVER'],
  ['PAYABLE', 'INSUFFICIENT_LIQUIDITY'],
] as const)('a shortage of %s is declined with %s, and promises nothing', async (shortage, decline) => {
  const { ask, promised } = startQuoting(() => ({ amount: 2_000n }), signs, true, shortage)
  expect(await ask()).toEqual({ decline })
  expect(promised.size).toBe(0)
})
