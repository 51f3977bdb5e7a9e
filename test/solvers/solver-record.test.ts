import { beforeEach, describe, expect, test } from 'vitest'
import { Peers } from '../../src/solvers/peers.js'
import { type AskResult, type BenchTerm, SolverRecord } from '../../src/solvers/solver-record.js'

const QUOTE_TIMEOUT_MS = 2000
const SECOND = 1000
const MINUTE = 60 * SECOND

const solver = {
  chainId: 1,
  address: '0x00000000000000000000000000000000000000aa',
  endpointUrl: 'https://solver.example.org',
  name: 'A solver',
  registeredAt: 0,
  isBonded: true,
} as const

let told: (BenchTerm | undefined)[]
let record: SolverRecord

beforeEach(() => {
  told = []
  record = createRecord()
})

function createRecord(term?: BenchTerm): SolverRecord {
  return new SolverRecord(solver, {
    quoteTimeoutMs: QUOTE_TIMEOUT_MS,
    term,
    onBench: (next) => told.push(next),
  })
}

/** One ask after the other, each begun at `now`. @returns when the last ended */
function ask(now: number, result: AskResult, { times = 1, tookMs = 10 } = {}): number {
  let at = now
  for (let time = 0; time < times; time++) {
    const open = record.ask(at, new Peers(3))
    at += tookMs
    open.end(result, at)
  }
  return at
}

describe('three failures in a row', () => {
  test.each(['failed', 'silent'] as const)('%s: it is benched for 5 s', (result) => {
    ask(0, result, { times: 2, tookMs: QUOTE_TIMEOUT_MS })
    expect(record.standing(4000)).not.toBe('benched')
    ask(4000, result, { tookMs: QUOTE_TIMEOUT_MS })
    expect(record.standing(6000)).toBe('benched')
    expect(told).toEqual([{ level: 1, until: 11_000 }])
  })

  test.each(['valid', 'refused'] as const)('are no longer in a row with one %s between', (result) => {
    for (let round = 0; round < 5; round++) {
      ask(0, 'failed', { times: 2 })
      ask(0, result)
    }
    expect(record.isBenched).toBe(false)
  })

  test('count only when the solver had a fair time', () => {
    ask(0, 'silent', { times: 10, tookMs: QUOTE_TIMEOUT_MS / 2 - 1 })
    expect(record.isBenched).toBe(false)
    expect(record.validShare).toBe(1)
    ask(0, 'silent', { times: 3, tookMs: QUOTE_TIMEOUT_MS / 2 })
    expect(record.isBenched).toBe(true)
  })
})

describe('on the bench', () => {
  test.each(['valid', 'refused'] as const)('the first answer in time brings it back: %s', (result) => {
    ask(0, 'failed', { times: 3 })
    ask(2000, result)
    expect(record.isBenched).toBe(false)
    expect(told.at(-1)).toBeUndefined()
    expect(told).toHaveLength(2)
  })

  test('failing probes do not make the term longer', () => {
    const at = ask(0, 'failed', { times: 3 })
    ask(1000, 'failed', { times: 20 })
    expect(told).toEqual([{ level: 1, until: at + 5000 }])
  })

  test('terms double from 5 s to 5 minutes, each by a single failure when the one before is over', () => {
    let at = ask(0, 'failed', { times: 3 })
    const terms: number[] = []
    for (let trial = 0; trial < 9; trial++) {
      const until = told.at(-1)?.until ?? Number.NaN
      terms.push(until - at)
      expect(record.standing(until - 1)).toBe('benched')
      expect(record.standing(until)).toBe('weak')
      at = ask(until, 'failed')
    }
    expect(terms).toEqual([5, 10, 20, 40, 80, 160, 300, 300, 300].map((seconds) => seconds * SECOND))
  })

  test('only one quote at a time waits for one whose term is over', () => {
    const until = ask(0, 'failed', { times: 3 }) + 5000
    const trial = record.ask(until, new Peers(3))
    expect(record.standing(until + 1)).toBe('benched')
    trial.end('silent', until + 100)
    // The caller was in a hurry: that says nothing, and the next quote tries.
    expect(record.standing(until + 101)).toBe('weak')
  })

  test('an ask from before the term that fails during the trial says nothing of the trial', () => {
    const early = record.ask(0, new Peers(3))
    const until = ask(0, 'failed', { times: 3 }) + 5000
    const trial = record.ask(until, new Peers(3))
    early.end('failed', until + 1)
    expect(told).toHaveLength(1)
    trial.end('failed', until + 2)
    expect(told.at(-1)).toMatchObject({ level: 2 })
  })

  test('three failures soon after the return are the next, longer term; after 5 minutes all is forgotten', () => {
    ask(0, 'failed', { times: 3 })
    ask(1000, 'valid')
    ask(2000, 'failed', { times: 3 })
    expect(told.at(-1)).toMatchObject({ level: 2 })
    const back = ask(3000, 'valid')
    ask(back + 5 * MINUTE + 1, 'failed', { times: 3 })
    expect(told.at(-1)).toMatchObject({ level: 1 })
  })

  test('a term from before a restart goes on, and a single failure behind it is the next', () => {
    record = createRecord({ level: 3, until: 4000 })
    expect(record.standing(3999)).toBe('benched')
    expect(record.standing(4000)).toBe('weak')
    ask(4000, 'failed')
    expect(told).toEqual([{ level: 4, until: 4010 + 40_000 }])
  })
})

describe('stalled', () => {
  const STALL_MS = QUOTE_TIMEOUT_MS / 40

  /** Opens asks at these times, of quotes whose other solvers all answer a millisecond later. */
  function openAsks(...times: number[]) {
    return times.map((now) => {
      const peers = new Peers(3)
      const open = record.ask(now, peers)
      peers.noteAnswer(now + 1)
      peers.noteAnswer(now + 1)
      return open
    })
  }

  test('is who leaves three asks open while others answered', () => {
    openAsks(0, 10)
    expect(record.standing(1000)).toBe('sound')
    openAsks(20)
    expect(record.standing(1 + STALL_MS)).toBe('sound')
    expect(record.standing(2 + STALL_MS)).toBe('stalled')
  })

  test('no longer when anything comes', () => {
    const [, second] = openAsks(0, 10, 20, 30, 40)
    expect(record.standing(100)).toBe('stalled')
    second?.end('valid', 101)
    expect(record.standing(102)).toBe('sound')
  })

  test('though an ask from before its last answer is open still', () => {
    openAsks(0)
    ask(10, 'valid')
    openAsks(1000, 1010, 1020)
    expect(record.standing(1500)).toBe('stalled')
  })

  test('not by asks from before its last answer', () => {
    openAsks(0, 1, 2, 3)
    ask(10, 'valid')
    openAsks(1000, 1010)
    expect(record.standing(1500)).toBe('sound')
  })

  test('not who always takes long: three times its usual time is allowed', () => {
    ask(0, 'valid', { tookMs: 400, times: 20 })
    openAsks(10_000, 10_010, 10_020)
    expect(record.standing(11_200)).toBe('sound')
    expect(record.standing(11_202)).toBe('stalled')
  })

  test('nobody, when the others have not answered either', () => {
    for (const now of [0, 10, 20]) record.ask(now, new Peers(3))
    expect(record.standing(1900)).toBe('sound')
  })

  test('three open asks that time out are three failures', () => {
    for (const open of openAsks(0, 10, 20)) open.end('silent', QUOTE_TIMEOUT_MS)
    expect(record.standing(QUOTE_TIMEOUT_MS)).toBe('benched')
  })
})

describe('weak', () => {
  test('is who answers validly less than four times in five, of late', () => {
    const answers = (pattern: readonly AskResult[]) => {
      record = createRecord()
      for (let round = 0; round < 20; round++) for (const result of pattern) ask(0, result)
      return record.standing(0)
    }
    expect(answers(['valid'])).toBe('sound')
    expect(answers(['failed', ...Array<AskResult>(19).fill('valid')])).toBe('sound')
    expect(answers(['valid', 'failed'])).toBe('weak')
    expect(answers(['refused', 'refused', 'valid'])).toBe('sound')
  })

  test('is who usually takes more than half of the time-out', () => {
    ask(0, 'valid', { tookMs: 1000, times: 50 })
    expect(record.standing(0)).toBe('sound')
    ask(0, 'valid', { tookMs: 1200, times: 50 })
    expect(record.standing(0)).toBe('weak')
    expect(record.usualMs).toBeCloseTo(1200, -1)
  })

  test('a new solver is sound', () => {
    expect(record.standing(0)).toBe('sound')
    expect(record.usualMs).toBeUndefined()
  })
})

describe('the peers of a quote', () => {
  test.each([
    [1, 1],
    [2, 1],
    [3, 1],
    [4, 2],
    [10, 5],
    [50, 25],
  ])('of %i solvers, %i have answered: half of the others of any', (size, enough) => {
    const peers = new Peers(size)
    for (let answer = 1; answer < enough; answer++) peers.noteAnswer(answer)
    expect(peers.answeredAt).toBeUndefined()
    peers.noteAnswer(100)
    peers.noteAnswer(200)
    expect(peers.answeredAt).toBe(100)
  })
})
