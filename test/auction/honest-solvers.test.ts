import { describe, expect, test } from 'vitest'
import type { QuoteRequest } from '../../packages/protocol/src/quotes/quote.js'
import { ownSoftDeadline } from '../../src/auction/round.js'
import type { SolverReply } from '../../src/solvers/transport/solver-transports.js'
import {
  type Behaviour,
  decline,
  keepSilent,
  offering,
  openSessionAuction,
  TIMEOUT_MS,
} from './session-auction.js'

const HUGE = { amount: 2n ** 256n - 1n }
const SECOND_MS = 1000
const ACCOMPLICE = '0x00000000000000000000000000000000000000aa'
const [best, second, third] = [3000n, 2000n, 1000n].map(offering) as [Behaviour, Behaviour, Behaviour]

/** A reply without an offer. */
const replying =
  (reply: SolverReply): Behaviour =>
  async () =>
    reply

/** Answers in one way what an attacker requests, and in another what honest users request. */
const whenAsked =
  (isAttack: (amount: bigint, user: string) => boolean, attacked: Behaviour, usual: Behaviour): Behaviour =>
  (account, asked) =>
    (isAttack(asked.request.amount, asked.request.user) ? attacked : usual)(account, asked)

/** The address of a client that has not been seen before. */
const stranger = (number: number) => `198.18.0.${number + 1}`

describe('twelve strangers with a solver of their own take no honest solver out of quotes by amounts', () => {
  test.each<[string, Behaviour]>([
    ['that they answer with 500', replying({ kind: 'declined', status: 500 })],
    ['that they price at 0', offering(0n)],
    ['that break the connection', replying({ kind: 'failed', reason: 'connection_lost', message: '' })],
    ['that they never answer', keepSilent],
  ])('%s', async (_what, attacked) => {
    const honest = [best, second].map((usual) =>
      whenAsked((amount) => amount === HUGE.amount, attacked, usual),
    )
    const { quote, asked, circuitOf } = openSessionAuction([...honest, third])
    expect((await quote()).by).toEqual([0, 1, 2])
    for (let attack = 0; attack < 12; attack++) expect((await quote(HUGE, stranger(attack))).by).toEqual([2])
    expect(asked.map(({ length }) => length)).toEqual([13, 13, 13])
    expect([0, 1].map(circuitOf)).toEqual(['closed', 'closed'])
    expect((await quote({}, '10.0.0.2')).by).toEqual([0, 1, 2])
  })
})

test('a solver that answers its own user only delays quotes until its breaker opens, and then few before each open period, and these grow', async () => {
  const stalling = whenAsked((_amount, user) => user !== ACCOMPLICE, keepSilent, best)
  const { quote, clock } = openSessionAuction([stalling, second, third])
  await quote()
  /** The numbers of quotes one after the other that it has not delayed, and of those that it has, in turns. */
  const runs = [0]
  for (let victim = 0; victim < 100; victim++) {
    await quote({ user: ACCOMPLICE }, `203.0.113.${victim % 3}`)
    const isSlow = (await quote({}, stranger(victim))).tookMs >= TIMEOUT_MS
    if (isSlow !== (runs.length % 2 === 0)) runs.push(0)
    runs.push((runs.pop() ?? 0) + 1)
    await clock.advance(SECOND_MS)
  }
  const [, slow = 0, quick = 0, slowAgain = 0, longer = 0, slowLast = 0] = runs
  expect(slow).toBeLessThan(35)
  expect(Math.max(slowAgain, slowLast)).toBeLessThan(5)
  expect(longer).toBeGreaterThan(2 * quick)
})

test('a quote waits for a solver that is owed it, and only while its best offer is worse than usual', async () => {
  const behaviours = [decline, decline]
  const { quote, clock } = openSessionAuction(behaviours, { softMs: 50 })
  behaviours[1] = async (...asked) => {
    await new Promise<void>((resolve) => clock.setTimeout(resolve, 100))
    return third(...asked)
  }
  const amounts = []
  for (const first of [1000n, 500n, 1000n, 500n]) {
    behaviours[0] = offering(first)
    const { offers } = await quote({}, undefined, { softDeadline: ownSoftDeadline(50) })
    amounts.push(offers[0]?.quote.outputAmount)
    // A signature takes turns of the event loop, and no time.
    for (let ms = 0; ms < TIMEOUT_MS; ms++) await clock.advance(1)
  }
  expect(amounts).toEqual([1000n, 500n, 1000n, 1000n])
})

test('strangers decide by rank whom others ask, but a client asks by what it was offered itself', async () => {
  const forStrangers = [1n, 9000n, 8000n].map(offering)
  const behaviours = [best, second, third].map((usual, index) =>
    whenAsked((_amount, user) => user === ACCOMPLICE, forStrangers[index] ?? usual, usual),
  )
  const { quote } = openSessionAuction(behaviours, { maxQuoteFanOut: 2 })
  const winnersOf = async (kind: QuoteRequest['kind']) => {
    const winners = []
    for (let time = 0; time < 20; time++) winners.push((await quote({ kind })).by[0])
    return winners
  }
  // Of three solvers, each quote asks two: this client gets to know all.
  await winnersOf('FIRM')
  for (let client = 0; client < 12; client++) await quote({ user: ACCOMPLICE }, stranger(client))
  expect(await winnersOf('FIRM')).toEqual(Array(20).fill(0))
  // Others may get this price, too: an attacker could ask for it first.
  expect(await winnersOf('INDICATIVE')).not.toEqual(Array(20).fill(0))
})
