import { expect, it } from 'vitest'
import type { Chain } from '../../src/chain/chain.js'
import { createDeadlineTime } from '../../src/chain/chain.js'
import { createClockSkew, wrongSkewMs } from '../../src/chain/clock-skew.js'
import { createManualClock } from '../support/manual-clock.js'
import { only } from '../support/only.js'

function start() {
  const clock = createManualClock()
  const lines: object[] = []
  const write = (fields: object, text: string) => void lines.push({ ...fields, text })
  const config = { chainId: 1, pollIntervalMs: 5000 }
  const skew = createClockSkew(only({ config, clock, log: { info: write, warn: write } }))
  let number = 0
  /** A new block whose time is so far from the clock. */
  const block = (aheadMs: number) =>
    skew.saw({ number: ++number, hash: '0x01', parentHash: '0x00', timestampMs: clock.now() + aheadMs })
  /** Makes the next block the one after this number. */
  const backTo = (last: number) => {
    number = last
  }
  return { ...skew, block, backTo, clock, lines, named: () => wrongSkewMs(skew.ms()) }
}

it('a clock that is behind the chain is named at the first block, once, and when it is right again', () => {
  const { block, ms, named, lines } = start()
  block(600_000)
  block(601_000)
  expect([ms(), named()]).toEqual([-601_000, -601_000])
  block(-2000)
  expect([ms(), named()]).toEqual([0, undefined])
  expect(lines).toEqual([
    { chainId: 1, clockSkewMs: -600_000, text: expect.stringContaining('is behind the chain') },
    { chainId: 1, clockSkewMs: undefined, text: 'the clock of this machine is that of the chain again' },
  ])
})

it('a clock that is ahead is named at a block that has just come, and an old first block says nothing', () => {
  const { block, ms, named, lines } = start()
  block(-3_600_000)
  expect([ms(), lines]).toEqual([undefined, []])
  block(-600_000)
  expect(named()).toBe(595_000)
  expect(lines).toMatchObject([{ text: expect.stringContaining('is ahead of the chain') }])
})

it('a head of another chain is forgotten with the next block of its own', () => {
  const { block, named, backTo } = start()
  block(0)
  block(0)
  backTo(20_000_000)
  block(3_600_000)
  expect(named()).toBe(-3_600_000)
  backTo(2)
  block(0)
  block(0)
  expect(named()).toBeUndefined()
})

it('30 s, and the time in which a block can be seen late, are right', () => {
  const { block, named, lines } = start()
  for (const aheadMs of [30_000, -35_000, 30_000]) block(aheadMs)
  expect([named(), lines]).toEqual([undefined, []])
})

it('deadlines are counted from the later of the clock and the newest block', () => {
  const chain = (headMs?: number) => ({ headTimeMs: () => headMs }) as Chain
  const times = new Map([
    [1, chain(900)],
    [2, chain(1100)],
    [3, chain()],
  ])
  const deadlineTime = createDeadlineTime(times, () => 1000)
  expect([1, 2, 3, 4].map(deadlineTime)).toEqual([1000, 1100, 1000, 1000])
})
