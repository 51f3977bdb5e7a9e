import { describe, expect, test } from 'vitest'
import type { Quote, SignedQuote } from '../../packages/protocol/src/quotes/quote.js'
import type { DepositVerdict, VerifyMode } from '../../packages/protocol/src/quotes/verification.js'
import type { Address } from '../../packages/protocol/src/values/hex.js'
import type { SolverAttempt } from '../../src/auction/attempt.js'
import { createOfferVerifier, createOnNonceRefused } from '../../src/auction/offer-verifier.js'
import { deferred } from '../support/deferred.js'
import { createManualClock } from '../support/manual-clock.js'
import { exactInput, signedQuote } from '../support/solvers/sample-quotes.js'
import { contextOf } from './context.js'
import { attemptOf } from './records/sample-round.js'

const ACCEPTED: DepositVerdict = { kind: 'accepted' }
const REJECTED: DepositVerdict = { kind: 'rejected', error: 'NonceAlreadyUsed' }
const UNKNOWN: DepositVerdict = { kind: 'unknown', reason: 'node_error' }
const TIMEOUT: DepositVerdict = { kind: 'unknown', reason: 'timeout' }
const HOUR_MS = 3_600_000

/** The result of a solver whose offer has this number. The lower it is, the better is the offer. */
function attempt(number: number, changes: Partial<Quote> = {}): SolverAttempt {
  const offer = signedQuote({ nonce: BigInt(number), outputAmount: 1000n - BigInt(number), ...changes })
  return attemptOf(number, { kind: 'quoted', offer })
}

interface Options {
  readonly mode?: VerifyMode
  readonly timeoutMs?: number
  readonly signal?: AbortSignal
  /** The offers that can no longer be taken. */
  readonly ended?: readonly number[]
}

/**
 * A verifier of a chain that gives the verdicts of the offers by number. Without a verdict, it answers only when the signal is
 * aborted.
 */
function openVerifier(verdicts: readonly (DepositVerdict | undefined)[], verifyTimeoutMs = HOUR_MS) {
  const clock = createManualClock()
  const checked: number[] = []
  const bests: string[] = []
  const verifyDeposit = ({ quote }: Pick<SignedQuote, 'quote'>, signal: AbortSignal) => {
    const number = Number(quote.nonce)
    checked.push(number)
    const verdict = verdicts[number]
    if (verdict !== undefined) return Promise.resolve(verdict)
    return new Promise<DepositVerdict>((resolve) => {
      if (signal.aborted) resolve(TIMEOUT)
      signal.addEventListener('abort', () => resolve(TIMEOUT))
    })
  }
  const verifier = createOfferVerifier(
    contextOf({
      chains: new Map([[1, { verifyDeposit }]]),
      usedNonces: { isUsed: () => true },
      config: { verifyTimeoutMs },
      clock,
    }),
  )
  const verify = async (numbers: readonly number[], { ended = [], ...options }: Options = {}) => {
    const attempts = numbers.map((number) =>
      attempt(number, ended.includes(number) ? { depositDeadline: 0 } : {}),
    )
    const results = await verifier(attempts, {
      request: exactInput,
      mode: 'best',
      timeoutMs: Number.POSITIVE_INFINITY,
      signal: new AbortController().signal,
      onBest: ({ quote, verified }) => bests.push(`${quote.nonce} ${verified ? 'verified' : 'unmarked'}`),
      ...options,
    })
    return results.map(summary)
  }
  return { verify, checked, bests, clock }
}

function summary({ result }: SolverAttempt) {
  if (result.kind === 'quoted') return result.offer.verified ? 'verified' : 'unmarked'
  return result.kind === 'invalid' ? result.reason : result.kind
}

describe('best', () => {
  test('checks the best offer alone when it is accepted', async () => {
    const { verify, checked } = openVerifier([ACCEPTED, ACCEPTED])
    expect(await verify([0, 1])).toEqual(['verified', 'unmarked'])
    expect(checked).toEqual([0])
  })

  test('checks the next offer after each rejection', async () => {
    const { verify, checked } = openVerifier([REJECTED, REJECTED, ACCEPTED, ACCEPTED])
    expect(await verify([0, 1, 2, 3])).toEqual([
      'NonceAlreadyUsed',
      'NonceAlreadyUsed',
      'verified',
      'unmarked',
    ])
    expect(checked).toEqual([0, 1, 2])
  })

  test('ends at an offer of which nothing is known', async () => {
    const { verify, checked } = openVerifier([REJECTED, UNKNOWN, ACCEPTED])
    expect(await verify([0, 1, 2])).toEqual(['NonceAlreadyUsed', 'unmarked', 'unmarked'])
    expect(checked).toEqual([0, 1])
  })
})

describe('all', () => {
  test('checks all offers at the same time', async () => {
    const { verify, checked } = openVerifier([undefined, REJECTED, UNKNOWN, ACCEPTED])
    const leaving = new AbortController()
    const verifying = verify([0, 1, 2, 3], { mode: 'all', signal: leaving.signal })
    expect(checked).toEqual([0, 1, 2, 3])
    leaving.abort()
    expect(await verifying).toEqual(['unmarked', 'NonceAlreadyUsed', 'unmarked', 'verified'])
  })
})

describe.each(['best', 'all'] as const)('with %s,', (mode) => {
  test('no offers need no check', async () => {
    expect(await openVerifier([]).verify([], { mode })).toEqual([])
  })

  test('each change of the best offer is told at once: another one, and that the contract has accepted it', async () => {
    const { verify, bests } = openVerifier([REJECTED, ACCEPTED, undefined])
    const leaving = new AbortController()
    const verifying = verify([2, 0, 1], { mode, signal: leaving.signal })
    await expect.poll(() => bests).toEqual(['1 unmarked', '1 verified'])
    leaving.abort()
    expect(await verifying).toEqual(['unmarked', 'NonceAlreadyUsed', 'verified'])
  })

  test('offers that leave too little time are dropped, with one change of the best offer', async () => {
    const { verify, bests } = openVerifier([UNKNOWN, UNKNOWN, UNKNOWN])
    const results = await verify([0, 1, 2], { mode, ended: [0, 1] })
    expect(results).toEqual(['deposit_deadline_mismatch', 'deposit_deadline_mismatch', 'unmarked'])
    expect(bests).toEqual(['2 unmarked'])
  })

  test.each([
    ['VERIFY_TIMEOUT_MS', 1, HOUR_MS],
    ["the caller's deadline", HOUR_MS, 1],
    ["the caller's deadline, which has passed", HOUR_MS, -5],
    ['VERIFY_TIMEOUT_MS for a caller without a deadline', 1, Number.POSITIVE_INFINITY],
  ])('the checks end after %s', async (_what, verifyTimeoutMs, timeoutMs) => {
    const { verify, clock } = openVerifier([undefined], verifyTimeoutMs)
    const verifying = verify([0], { mode, timeoutMs })
    await clock.advance(1)
    expect(await verifying).toEqual(['unmarked'])
    expect(clock.waiting).toBe(0)
  })

  test('the time covers all checks of a quote', async () => {
    const { verify, clock } = openVerifier([REJECTED, undefined, ACCEPTED], 1)
    const verifying = verify([0, 1, 2], { mode })
    await clock.advance(1)
    const last = mode === 'best' ? 'unmarked' : 'verified'
    expect(await verifying).toEqual(['NonceAlreadyUsed', 'unmarked', last])
  })

  test('a caller that has left gets no check', async () => {
    const leftVerifier = openVerifier([undefined])
    expect(await leftVerifier.verify([0], { mode, signal: AbortSignal.abort() })).toEqual(['unmarked'])
  })
})

/** The function for a chain whose contract knows nonces below 10 as used, once the test lets it answer. */
function open() {
  const { opened, open } = deferred()
  const reads: bigint[] = []
  const used: bigint[] = []
  const isNonceUsed = async (_solver: Address, nonce: bigint) => {
    reads.push(nonce)
    await opened
    if (nonce === 5n) throw new Error('the node is down')
    return nonce < 10n
  }
  const usedNonces = {
    isUsed: (_key: unknown, nonce: bigint) => nonce === 1n,
    setUsed: (_key: unknown, nonces: readonly bigint[]) => void used.push(...nonces),
  }
  const onNonceRefused = createOnNonceRefused(
    contextOf({ chains: new Map([[1, { isNonceUsed }]]), usedNonces }),
  )
  const refuse = (...nonces: bigint[]) => {
    for (const nonce of nonces) onNonceRefused(1, signedQuote({ nonce }).quote)
  }
  return { refuse, reads, used, answer: open }
}

test('a refused nonce is used only when the contract itself says so, as a token can return any error', async () => {
  const { refuse, used, answer } = open()
  refuse(2n, 5n, 10n)
  answer()
  await expect.poll(() => used).toEqual([2n])
})

test('a nonce is read once at a time, not when it is known, and not beside too many others', () => {
  const { refuse, reads } = open()
  refuse(1n, 2n, 2n)
  expect(reads).toEqual([2n])
  for (let nonce = 100n; nonce < 200n; nonce++) refuse(nonce)
  expect(reads).toHaveLength(20)
})
