import fc from 'fast-check'
import { describe, expect, it, test } from 'vitest'
import { createRangeSize, isForSize, type RangeSize, readRange } from '../src/block-ranges.js'
import { RpcError, toRpcError } from '../src/json-rpc.js'

const SEED = 20_260_108
const MAX = 10_000
const ENOUGH_LOGS = 2000
/** More than any of these tests makes. */
const MAX_CALLS = 1000

const answered = (code: number, message: string) => toRpcError({ code, message }, String)
const refused = (status: number, isRateLimit = false) =>
  new RpcError('refused', `status ${status}`, { status, isRateLimit })

/** Reads blocks from a node that throws for some ranges. @returns the sizes of the ranges that were asked for */
async function readAll(
  size: RangeSize,
  blocks: number,
  failure: (from: number, to: number) => unknown,
): Promise<number[]> {
  const asked: number[] = []
  for (let from = 1; from <= blocks; ) {
    const { to } = await readRange(size, {
      from,
      maxTo: blocks,
      async read(first, last) {
        asked.push(last - first + 1)
        if (asked.length > MAX_CALLS) expect.fail(`the node is asked endlessly, for ${first} to ${last}`)
        const error = failure(first, last)
        if (error !== undefined) throw error
      },
      logsIn: () => 0,
    })
    from = to + 1
  }
  return asked
}

describe('a node that allows few blocks is read', () => {
  const REFUSALS: [string, () => unknown][] = [
    ['too many results', () => answered(-32005, 'query returned more than 10000 results')],
    ['a bare code of limits', () => answered(-32005, 'limit exceeded')],
    ['a range too wide', () => answered(-32602, 'block range is too wide')],
    ['a range of a plan', () => answered(-32005, 'max block range is 10 on the free rate plan')],
    ['a size of answers', () => answered(-32602, 'Log response size exceeded')],
    ['an internal error', () => answered(-32603, 'Internal error')],
    ['a time-out of the node', () => answered(-32000, 'query timeout exceeded')],
    ['status 400', () => refused(400)],
    ['status 413', () => refused(413)],
    ['status 500', () => refused(500)],
    ['no answer in time', () => new RpcError('lost', 'no answer', { isTimeout: true })],
    ['an answer that is too long', () => new RpcError('too_long', 'too long')],
    ['an error of viem around it', () => new Error('viem', { cause: answered(-32000, 'too wide') })],
  ]

  async function readByFew(allowed: number, error: () => unknown) {
    const asked = await readAll(createRangeSize(MAX), 60 * allowed, (from, to) =>
      to - from + 1 > allowed ? error() : undefined,
    )
    const good = asked.filter((blocks) => blocks <= allowed)
    expect(good.reduce((sum, blocks) => sum + blocks)).toBe(60 * allowed)
    expect(good.length).toBeLessThanOrEqual(60 * 2 + 11)
    // Once its size is known, one of eleven is tried in vain.
    expect(asked.length - good.length).toBeLessThanOrEqual(12 + good.length / 10)
  }

  it.each(REFUSALS)('when it says so by %s', (_how, error) => readByFew(10, error))
  it.each([1, 500, 777])('when these are %i', (allowed) => readByFew(allowed, () => refused(500)))
})

it.each([
  ['status 503', refused(503, true)],
  ['no JSON', new RpcError('lost', 'the answer of the node is not JSON')],
  ['a lost connection', new RpcError('lost', 'ECONNRESET')],
])('a range that is refused with %s is halved at the eighth time, until it is read', async (_what, error) => {
  const size = createRangeSize(MAX)
  let calls = 0
  const read = () =>
    readAll(size, 40, (from, to) => {
      calls++
      return to - from + 1 > 10 ? error : undefined
    })
  let left = 60
  while ((await read().catch(() => undefined)) === undefined && left > 0) left--
  expect(left).toBeGreaterThan(0)
  expect(size.current()).toBeLessThanOrEqual(10)
  expect(calls).toBeLessThan(60)
  const few = size.current()
  for (let ranges = 900; ranges > 0; ranges--) size.succeeded(few, 0)
  expect(size.current()).toBe(few)
  for (let ranges = 100; ranges > 0; ranges--) size.succeeded(few, 0)
  expect(size.current()).toBe(2 * few)
})

it('a range keeps its size when one is read between failures that say nothing of it', () => {
  const size = createRangeSize(MAX)
  for (let failures = 0; failures < 7; failures++) size.failed(500)
  size.succeeded(60, 0)
  for (let failures = 0; failures < 7; failures++) size.failed(500)
  expect(size.current()).toBe(500)
  size.failed(500)
  expect(size.current()).toBe(250)
})

it('a range is not halved while no call is sent', async () => {
  const size = createRangeSize(MAX)
  const paused = new RpcError('refused', 'none is sent', { isRateLimit: true })
  for (let left = 20; left > 0; left--) await expect(readAll(size, 5000, () => paused)).rejects.toBe(paused)
  expect(size.current()).toBe(500)
})

describe('a range keeps its size', () => {
  it.each([
    ['a lost connection', new RpcError('lost', 'ECONNRESET')],
    ['status 429', refused(429, true)],
    ['status 503', refused(503, true)],
    ['a rate', answered(-32005, 'request rate exceeded')],
    ['a capacity', answered(-32000, 'exceeded its compute units per second capacity')],
    ['the pause after it', new RpcError('refused', 'none is sent', { isRateLimit: true })],
    ['what is no error of a node', new TypeError('a defect')],
  ])('after %s, and its reader waits', async (_what, error) => {
    const size = createRangeSize(MAX)
    let calls = 0
    const failure = () => {
      calls++
      return error
    }
    await expect(readAll(size, 5000, failure)).rejects.toBe(error)
    expect([calls, size.current()]).toEqual([1, 500])
  })

  it('after a time in which even one block fails', async () => {
    const size = createRangeSize(MAX)
    await readAll(size, 20_000, () => undefined)
    const before = size.current()
    await expect(readAll(size, 20_000, () => refused(500))).rejects.toMatchObject({ status: 500 })
    expect(size.current()).toBeLessThanOrEqual(before)
    expect(size.current()).toBeGreaterThan(500)
  })
})

describe('a range grows', () => {
  const afterGood = (size: RangeSize, ranges: number) => {
    for (let left = ranges; left > 0; left--) size.succeeded(size.current(), 0)
    return size.current()
  }

  it('twice after each good one before the first refusal, up to a limit', () => {
    const size = createRangeSize(MAX)
    expect([1, 1, 1, 1, 1, 1].map((ranges) => afterGood(size, ranges))).toEqual([
      1000,
      2000,
      4000,
      8000,
      MAX,
      MAX,
    ])
    expect(createRangeSize(100).current()).toBe(100)
  })

  it.each(['refused', 'with too many logs'])('twice after ten good ones once it was %s', (what) => {
    const size = createRangeSize(MAX)
    if (what === 'refused') size.refused(500)
    else size.succeeded(500, ENOUGH_LOGS + 1)
    expect([9, 1, 9, 1].map((ranges) => afterGood(size, ranges))).toEqual([250, 500, 500, 1000])
  })

  it('after ten good ones in a row: a refusal has them counted again', () => {
    const size = createRangeSize(MAX)
    size.refused(500)
    expect(afterGood(size, 9)).toBe(250)
    size.refused(250)
    expect([9, 1].map((ranges) => afterGood(size, ranges))).toEqual([125, 250])
  })

  it('also with as many logs as one transaction may have, but not with more', () => {
    const size = createRangeSize(MAX)
    size.succeeded(500, ENOUGH_LOGS)
    expect(size.current()).toBe(1000)
    size.succeeded(1000, ENOUGH_LOGS + 1)
    expect(size.current()).toBe(500)
  })

  it('not by ranges at the head, which are shorter', () => {
    const size = createRangeSize(MAX)
    for (let poll = 0; poll < 100; poll++) size.succeeded(60, 0)
    expect(size.current()).toBe(500)
  })
})

test('a range is always a valid number of blocks', () => {
  const outcome = fc.option(fc.nat(2 * ENOUGH_LOGS), { nil: 'refused' as const })
  fc.assert(
    fc.property(fc.array(outcome, { maxLength: 100, size: 'max' }), (outcomes) => {
      const size = createRangeSize(MAX)
      for (const logs of outcomes) {
        const before = size.current()
        if (logs === 'refused') expect(size.refused(before)).toBe(before > 1)
        else size.succeeded(before, logs)
        expect(size.current()).toSatisfy(Number.isInteger)
        expect(size.current()).toBeGreaterThanOrEqual(1)
        expect(size.current()).toBeLessThanOrEqual(MAX)
      }
    }),
    { seed: SEED },
  )
})

test('only errors of nodes are for a size', () => {
  expect([undefined, null, 'text', new Error('x')].map(isForSize)).toEqual([false, false, false, false])
})
