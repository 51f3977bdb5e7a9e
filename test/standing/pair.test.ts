import { LRUCache } from 'lru-cache'
import { beforeEach, describe, expect, test } from 'vitest'
import { ClientAnswers, Pair, Pairs, type Teacher } from '../../src/standing/pair.js'
import { solver } from '../solvers/sample-solver.js'

const MINUTE = 60_000
/** By which a round that does not teach has ranked. */
const OWN = new ClientAnswers()
const createPair = () => new Pair('a', new LRUCache({ max: 99 }))

/** Records answers of the rate, of as many clients. Each teaches the pair. */
function answer(pair: Pair, rate: number, clients: number): void {
  for (let client = 0; client < clients; client++)
    pair.recordAnswer({ network: `client ${answers++}` }, rate, undefined, 0)
}
let answers = 0

describe('the usual rate of a pair', () => {
  test('is the median of its last 49 answers that taught it', () => {
    const pair = createPair()
    answer(pair, 1, 25)
    answer(pair, 0.5, 24)
    pair.recordAnswer({ network: 'untaught' }, 0.5, OWN, 0)
    expect(pair.usualRate({ network: 'new' })).toBe(1)
    answer(pair, 0.5, 1)
    expect(pair.usualRate({ network: 'new' })).toBe(0.5)
  })

  test('is above any answer until 49 have taught it: strangers may have begun it', () => {
    const pair = createPair()
    answer(pair, 0.5, 48)
    pair.recordAnswer({ network: 'alone' }, 1, OWN, 0)
    expect(pair.usualRate({ network: 'alone' })).toBe(Number.POSITIVE_INFINITY)
    answer(pair, 0.25, 1)
    expect(['other', 'alone'].map((network) => pair.usualRate({ network }))).toEqual([0.5, 1])
  })

  test('is what the client itself was answered, where that was better', () => {
    const pair = createPair()
    pair.recordAnswer({ network: 'alone' }, 1, undefined, 0)
    answer(pair, 0.5, 49)
    expect(['other', 'alone'].map((network) => pair.usualRate({ network }))).toEqual([0.5, 1])
  })

  test('rises faster than it falls with the answers of the client', () => {
    const usualAfter = (rate: number) => {
      const pair = createPair()
      answer(pair, 0.5, 49)
      for (const each of [1, rate]) pair.recordAnswer({ network: 'alone' }, each, OWN, 0)
      return pair.usualRate({ network: 'alone' })
    }
    expect([9, 0.5].map(usualAfter)).toEqual([2, 1 - 2 ** -10])
  })

  /** How far the usual rate of a client is above that of its first answer after each of these drops. In basis points. */
  const raisedBy = (drops: readonly number[]) => {
    const pair = createPair()
    answer(pair, 0.5, 49)
    const client = { network: 'alone' }
    return [0, ...drops].map((drop) => {
      pair.recordAnswer(client, 1 - drop / 10_000, OWN, 0)
      return Math.round((pair.usualRate(client) - 1) * 100_000_000) / 10_000
    })
  }

  test('rises by each drop of the client beyond 1 basis point, until one is worse than usual and takes it down', () => {
    expect(raisedBy([3, 1, 3])).toEqual([0, 2, 2, -0.0059])
  })

  test('stays while drops are small, and a better answer makes up for them', () => {
    expect(raisedBy([1, 0.5, 4, 0, 0, 0, 0])).toEqual([0, 0, 0, 3, 2, 1, 0, 0])
  })
})

describe('the own answers of a client', () => {
  const ownOf = (pairs: Pairs, network: string, now = 1) => pairs.of('a')?.ownAnswers({ network }, now)

  test('have the median of the last nine gaps of each solver in its rounds', () => {
    const pairs = new Pairs()
    const { own } = pairs.open('a', { network: 'client' }, 1, undefined, 0)
    const [{ address }, other] = [solver(1), solver(2)]
    for (const gap of [0, 0, 0, 0, 0, 9, 9, 9, 9]) own.addGap(address, gap)
    const medians = [9, 9].map((gap) => {
      own.addGap(address, gap)
      return ownOf(pairs, 'client')?.gapsOf(address)?.median
    })
    expect(medians).toEqual([9, 9])
    expect([ownOf(pairs, 'client')?.gapsOf(other.address)?.median, ownOf(pairs, 'other')]).toEqual([
      undefined,
      undefined,
    ])
  })

  test('have their gaps for half an hour after the last answer', () => {
    const pairs = new Pairs()
    const open = (now: number) => pairs.open('a', { network: 'client' }, 1, undefined, now).own
    open(0).addGap(solver(1).address, 5)
    const gapAt = (now: number) => open(now).gapsOf(solver(1).address)?.median
    expect([30 * MINUTE, 60 * MINUTE + 1].map(gapAt)).toEqual([5, undefined])
  })

  test('do not count in a round that would teach the pair', () => {
    const pairs = new Pairs()
    pairs.open('a', { network: 'client' }, 1, undefined, 0)
    expect([9_999, 10_000].map((now) => ownOf(pairs, 'client', now) !== undefined)).toEqual([true, false])
  })

  test('are those of one pair, of 8,192 clients: then those go that were used longest ago', () => {
    const pairs = new Pairs()
    const open = (pair: string, client: number) => pairs.open(pair, { network: `${client}` }, 1, OWN, 0).own
    // A pair is kept from its first lesson on.
    for (const pair of 'ab') pairs.open(pair, { network: 'teacher' }, 1, undefined, 0)
    const [first, second] = [open('a', 0), open('b', 0)]
    expect(second).not.toBe(first)
    expect(open('a', 0)).toBe(first)
    for (let client = 1; client < 8192; client++) open('a', client)
    expect(open('a', 0)).toBe(first)
    expect(open('b', 0)).not.toBe(second)
  })
})

describe('a client teaches a pair', () => {
  let pairs: Pairs
  beforeEach(() => {
    pairs = new Pairs()
  })
  const teaches = (client: Teacher, now: number, rankedBy?: ClientAnswers) =>
    pairs.open('a', client, 1, rankedBy, now).isTaught
  const stranger = { network: '192.0.2.1' }
  const other = { network: '192.0.2.2' }
  const withKey = { network: 'key', apiKey: {} }

  test('once in 10 s while no other client has taught it within 10 minutes', () => {
    const taught = [0, 9999, 10_000, 15_000, 20_000].map((now) => teaches(stranger, now))
    expect(taught).toEqual([true, false, true, false, true])
  })

  test('otherwise once in 10 minutes, with a key once in a minute', () => {
    expect([other, withKey, stranger].map((client) => teaches(client, 0))).toEqual([true, true, true])
    expect(teaches(stranger, 9 * MINUTE)).toBe(false)
    expect([MINUTE - 1, MINUTE].map((now) => teaches(withKey, now))).toEqual([false, true])
  })

  test('often again when the others have not taught it for 10 minutes', () => {
    teaches(other, 0)
    teaches(stranger, MINUTE)
    expect([10 * MINUTE, 10 * MINUTE + 1].map((now) => teaches(stranger, now))).toEqual([false, true])
  })

  test('not with a round that has ranked by its own answers, whenever it is answered', () => {
    teaches(stranger, 0)
    expect(teaches(stranger, MINUTE, OWN)).toBe(false)
    expect(teaches(stranger, MINUTE)).toBe(true)
  })
})

describe('the pairs of a chain', () => {
  const client = { network: '192.0.2.1' }

  test('begin with their first lesson', () => {
    const pairs = new Pairs()
    expect(pairs.of('a')).toBeUndefined()
    const { pair } = pairs.open('a', client, 1, undefined, 0)
    expect(pairs.of('a')).toBe(pair)
    expect(pairs.open('a', client, 1, undefined, 0)).toMatchObject({ pair, isTaught: false })
    expect(pairs.of('a')?.of(solver(1).address)).toBeUndefined()
  })

  test('are 2,048: then the one goes that was taught longest ago', () => {
    const pairs = new Pairs()
    for (let number = 0; number < 2048; number++) pairs.open(`${number}`, client, 1, undefined, 0)
    pairs.open('0', client, 1, undefined, 10_000)
    pairs.open('new', client, 1, undefined, 10_000)
    expect([pairs.of('0') !== undefined, pairs.of('1')]).toEqual([true, undefined])
  })
})
