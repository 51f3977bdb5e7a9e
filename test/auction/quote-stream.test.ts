import { describe, expect, test, vi } from 'vitest'
import { ServiceError } from '../../packages/protocol/src/errors.js'
import type { SignedQuote } from '../../packages/protocol/src/quotes/quote.js'
import type { RoundCounts } from '../../src/auction/attempt.js'
import type { Auction, RoundResult } from '../../src/auction/auction.js'
import { type QuoteStreamItem, type QuoteStreamOptions, quoteStream } from '../../src/auction/quote-stream.js'
import type { CallSignal } from '../../src/clients/call.js'
import { THIS_PROCESS } from '../../src/clients/client-id.js'
import { deferred } from '../support/deferred.js'
import { createManualClock } from '../support/manual-clock.js'
import { exactInput } from '../support/solvers/sample-quotes.js'
import { signed } from './records/sample-round.js'

const MINUTE_MS = 60_000
const COUNTS: RoundCounts = {
  ...{ asked: 2, quoted: 1, declined: 0, invalid: 0, late: 0 },
  ...{ soft_deadline: 0, failed: 0, circuit_open: 0, cancelled: 0 },
}

/** A stream whose rounds the test ends. */
function createStream(changes: Partial<QuoteStreamOptions> = {}) {
  const rounds: Round[] = []
  const runRound: Auction['runRound'] = (_request, { signal }, { onBest } = {}) =>
    new Promise((end) => {
      const quoteId = String(rounds.length + 1)
      rounds.push({ onBest: (offer) => onBest?.({ quoteId, offer, counts: COUNTS }), end, signal })
    })
  const clock = createManualClock()
  const [leaving, ending] = [new AbortController(), new AbortController()]
  const leave = () => leaving.abort()
  const abandon = vi.fn(leave)
  const options: QuoteStreamOptions = {
    auction: { assertReady() {}, runRound },
    toRequest: () => exactInput,
    roundOptions: {},
    refreshMs: 5000,
    caller: { client: THIS_PROCESS, timeoutMs: undefined },
    admitRound: async () => {},
    isDrained: () => true,
    abandon,
    shutDown: ending.signal,
    clock,
    ...changes,
  }
  const stream = quoteStream(options, leaving.signal)
  const endRound = async (offers: SignedQuote[] = [signed(1, 10n)], error?: ServiceError) => {
    rounds.at(-1)?.end({ quoteId: String(rounds.length), offers, counts: COUNTS, error })
    await clock.advance(0)
  }
  return { stream, clock, rounds, leave, shutDown: () => ending.abort(), abandon, endRound }
}

interface Round {
  onBest(offer: SignedQuote): void
  end(result: RoundResult): void
  readonly signal: CallSignal
}

/** The same with a client that reads all. */
function openStream(changes: Partial<QuoteStreamOptions> = {}) {
  const created = createStream(changes)
  const items: QuoteStreamItem[] = []
  let ending: unknown
  const readAll = async () => {
    for await (const item of created.stream) items.push(item)
    return 'ended'
  }
  const end = (how: unknown) => {
    ending = how
  }
  const reading = readAll().then(end, end)
  return { ...created, items, reading, ending: () => ending }
}

const callerWith = (timeoutMs: number | undefined) => ({ client: THIS_PROCESS, timeoutMs })
const kindsOf = (items: readonly QuoteStreamItem[]) => items.map(({ kind }) => kind)

describe('rounds', () => {
  test('begin at the interval from the start of the last one', async () => {
    const { clock, rounds, endRound, items } = openStream()
    await clock.advance(2000)
    await endRound()
    await clock.advance(2999)
    expect(rounds.length).toBe(1)
    await clock.advance(1)
    expect(rounds.length).toBe(2)
    await endRound()
    expect(items).toMatchObject([
      { kind: 'done', round: 1, quoteId: '1' },
      { kind: 'done', round: 2, quoteId: '2' },
    ])
  })

  test('begin at once when the last one took longer than the interval', async () => {
    const { clock, rounds, endRound } = openStream()
    await clock.advance(6000)
    await endRound()
    expect(rounds.length).toBe(2)
  })

  test.each([
    ['ten minutes', MINUTE_MS, undefined, 10],
    ["the caller's own deadline", 5000, 7000, 2],
    ['the first for a caller that has no time', 5000, 0, 1],
  ])('do not begin after %s', async (_, refreshMs, timeoutMs, most) => {
    const { clock, rounds, endRound, ending } = openStream({ refreshMs, caller: callerWith(timeoutMs) })
    for (let round = 0; round < most; round++) {
      await endRound()
      await clock.advance(refreshMs)
    }
    expect([rounds.length, ending()]).toEqual([most, 'ended'])
  })

  test('that a limit refuses wait until the window ends', async () => {
    const refused = new ServiceError('RATE_LIMITED', 'Too many.', { retryAfterSeconds: 40 })
    const admitRound = vi.fn().mockRejectedValueOnce(refused).mockResolvedValue(undefined)
    const { clock, rounds, endRound, items } = openStream({ admitRound })
    await endRound()
    await clock.advance(44_999)
    expect(rounds.length).toBe(1)
    await clock.advance(1)
    expect([rounds.length, admitRound.mock.calls.length]).toEqual([2, 2])
    expect(kindsOf(items)).toEqual(['done', 'heartbeat', 'heartbeat'])
  })

  test.each([
    ['the deadline of the caller', 7000, 7000],
    ['ten minutes', undefined, 10 * MINUTE_MS],
  ])('that a limit refuses until after %s do not begin', async (_, timeoutMs, untilMs) => {
    const refused = new ServiceError('RATE_LIMITED', 'Too many.', { retryAfterSeconds: 60 })
    const admitRound = vi.fn().mockRejectedValue(refused)
    const { clock, rounds, endRound, ending } = openStream({ admitRound, caller: callerWith(timeoutMs) })
    await endRound()
    await clock.advance(untilMs)
    admitRound.mockResolvedValue(undefined)
    await clock.advance(2 * MINUTE_MS)
    expect([rounds.length, ending()]).toEqual([1, 'ended'])
  })

  test('that a limit admits after the deadline of the caller do not begin', async () => {
    const gate = deferred()
    const { clock, rounds, endRound, ending } = openStream({
      admitRound: () => gate.opened,
      caller: callerWith(7000),
    })
    await endRound()
    await clock.advance(8000)
    gate.open()
    await clock.advance(0)
    expect([rounds.length, ending()]).toEqual([1, 'ended'])
  })

  test('end the stream with the error of the limits, when it does not pass', async () => {
    const admitRound = () => Promise.reject(new ServiceError('DATABASE_UNAVAILABLE', 'No database.'))
    const { clock, endRound, ending } = openStream({ admitRound })
    await endRound()
    await clock.advance(5000)
    expect(ending()).toMatchObject({ reason: 'DATABASE_UNAVAILABLE' })
  })
})

describe('a client that reads slowly', () => {
  test('misses offers that better ones have superseded', async () => {
    const { rounds, endRound, items } = openStream()
    for (const output of [1, 2, 3]) rounds[0]?.onBest(signed(output, BigInt(output)))
    await endRound([signed(3, 3n)])
    expect(items).toMatchObject([
      { kind: 'quote', offer: { quote: { outputAmount: 3n } } },
      { kind: 'done', offers: [{ quote: { outputAmount: 3n } }] },
    ])
  })

  test('gets no further round before it has read, and is cut off after 10 seconds', async () => {
    const { clock, rounds, endRound, abandon, ending } = openStream({ isDrained: () => false })
    await endRound()
    await clock.advance(14_900)
    expect([rounds.length, abandon.mock.calls.length]).toEqual([1, 0])
    await clock.advance(200)
    expect([rounds.length, abandon.mock.calls.length, ending()]).toEqual([1, 1, 'ended'])
  })

  test('gets the next round when it has read in time', async () => {
    let isDrained = false
    const { clock, rounds, endRound, abandon } = openStream({ isDrained: () => isDrained })
    await endRound()
    await clock.advance(9000)
    isDrained = true
    await clock.advance(100)
    expect([rounds.length, abandon.mock.calls.length]).toEqual([2, 0])
  })

  test('is cut off when it takes no item for 10 seconds', async () => {
    const { clock, stream, abandon, endRound } = createStream()
    const first = stream.next()
    await endRound()
    await first
    await clock.advance(9999)
    expect(abandon).not.toHaveBeenCalled()
    await clock.advance(1)
    expect(abandon).toHaveBeenCalledOnce()
    expect((await stream.next()).done).toBe(true)
  })
})

describe('a stream', () => {
  test('has a heartbeat after 15 seconds without an item, in a round and between rounds', async () => {
    const { clock, items, endRound } = openStream({ refreshMs: MINUTE_MS })
    await clock.advance(15_000)
    expect(kindsOf(items)).toEqual(['heartbeat'])
    await endRound()
    await clock.advance(15_000)
    expect(kindsOf(items)).toEqual(['heartbeat', 'done', 'heartbeat'])
  })

  test('cancels its requests at once when the client leaves during a round', async () => {
    const { leave, rounds, reading } = openStream()
    expect(rounds[0]?.signal.aborted).toBe(false)
    leave()
    expect(rounds[0]?.signal.aborted).toBe(true)
    await reading
  })

  test('ends at once when the client leaves between rounds', async () => {
    const { leave, clock, endRound, reading, rounds } = openStream()
    await endRound()
    leave()
    await reading
    await clock.advance(MINUTE_MS)
    expect([rounds.length, clock.waiting]).toEqual([1, 0])
  })

  test('asks nobody when the client has left before it begins', async () => {
    const { leave, stream, rounds } = createStream()
    leave()
    expect([(await stream.next()).done, rounds.length]).toEqual([true, 0])
  })

  test('gives no end of a round that ends when the client leaves', async () => {
    const { leave, clock, reading, items, endRound } = openStream()
    const ended = endRound()
    leave()
    await Promise.all([ended, reading])
    expect([items, clock.waiting]).toEqual([[], 0])
  })

  test('leaves no timer when the client leaves while an item waits for it', async () => {
    const { leave, clock, stream, endRound } = createStream()
    const first = stream.next()
    await endRound()
    await first
    leave()
    expect(clock.waiting).toBe(0)
    expect((await stream.next()).done).toBe(true)
  })

  test('ends with SHUTTING_DOWN after the round under way, when the service ends', async () => {
    const { shutDown, clock, endRound, items, ending } = openStream()
    shutDown()
    await clock.advance(1000)
    expect(ending()).toBeUndefined()
    await endRound()
    expect(kindsOf(items)).toEqual(['done'])
    expect(ending()).toMatchObject({ reason: 'SHUTTING_DOWN' })
  })

  test.each([
    ['it waits for the client to read', () => ({ isDrained: () => false })],
    ['a limit is asked', (opened: Promise<void>) => ({ admitRound: () => opened })],
  ])('ends with SHUTTING_DOWN when the service ends while %s', async (_, changesOf) => {
    const gate = deferred()
    const { shutDown, clock, endRound, rounds, ending } = openStream(changesOf(gate.opened))
    await endRound()
    await clock.advance(6000)
    shutDown()
    gate.open()
    await clock.advance(0)
    expect([rounds.length, ending()]).toMatchObject([1, { reason: 'SHUTTING_DOWN' }])
  })

  test('of one round ends without an error when the service ends', async () => {
    const { shutDown, endRound, items, ending } = openStream({ refreshMs: undefined })
    shutDown()
    await endRound()
    expect([kindsOf(items), ending()]).toEqual([['done'], 'ended'])
  })

  test.each([
    [undefined, 'NO_QUOTES'],
    [5000, undefined],
  ])('with an interval of %s ms, ends after a round without an offer with %s', async (refreshMs, reason) => {
    const { endRound, items, ending } = openStream({ refreshMs })
    await endRound([], new ServiceError('NO_QUOTES', 'No solver gave a valid quote in time.'))
    expect((ending() as ServiceError | undefined)?.reason).toBe(reason)
    expect(kindsOf(items)).toEqual(reason === undefined ? ['done'] : [])
  })
})
