import { expect, it } from 'vitest'
import { createManualClock } from '../../../../test/support/manual-clock.js'
import { only } from '../../../../test/support/only.js'
import { createChainTime, readHead } from '../../src/chain/chain-time.js'

const START = 2_000_000_000
const CONFIRMATIONS = 20
const block = (number: number, time: number) => ({ number, hash: `0x${number}`, time }) as const

/** A chain whose last 100 blocks came so often. */
function startTime(blockSeconds: number) {
  const clock = createManualClock(START * 1000)
  const past = block(0, START - 100 * blockSeconds)
  return { clock, time: createChainTime(clock, past, block(100, START), CONFIRMATIONS) }
}

it('what is over is told by the newest block, and what may come by the later one of both clocks', () => {
  const { clock, time } = startTime(1)
  clock.set((START + 3_600) * 1000)
  expect([time.passed(), time.now()]).toEqual([START, START + 3_600])
  clock.set((START - 3_600) * 1000)
  expect([time.passed(), time.now()]).toEqual([START, START])
  time.see(block(101, START + 7))
  expect([time.passed(), time.now()]).toEqual([START + 7, START + 7])
})

it('a chain is blind after twenty polls without an answer, and five seconds at least', async () => {
  const { clock, time } = startTime(1)
  await clock.advance(5_000)
  expect(time.isBlind(100)).toBe(false)
  await clock.advance(1)
  expect([time.isBlind(100), time.isBlind(1_000)]).toEqual([true, false])
  await clock.advance(15_000)
  expect(time.isBlind(1_000)).toBe(true)
  time.answered()
  expect(time.isBlind(1_000)).toBe(false)
})

it('what is given up is given up by the earlier one of the last two blocks', () => {
  const { time } = startTime(1)
  time.see(block(101, START + 200))
  expect(time.surelyPassed()).toBe(START)
  time.see(block(102, START + 2))
  expect(time.surelyPassed()).toBe(START + 2)
})

it.each<[string, object]>([
  ['time in milliseconds', { timestamp: `0x${(START * 1000).toString(16)}` }],
  ['time', { timestamp: null }],
  ['number', { number: null }],
])('a block that has no %s of a chain is no answer', async (_what, change) => {
  const word = `0x${'00'.repeat(32)}`
  const right = { number: '0x1', hash: word, parentHash: word, timestamp: `0x${START.toString(16)}` }
  const head = (answer: object) => readHead(only({ client: { request: async () => answer as never } }))
  expect(await head(right)).toEqual({ number: 1, hash: word, time: START })
  await expect(head({ ...right, ...change })).rejects.toThrow(/has no valid (timestamp|number)/)
})

it.each([
  ['a minute, where blocks are fast', 1, 60],
  ['a minute, where ten blocks take as long', 6, 60],
  ['ten block times, where blocks are slow', 15, 150],
])('the newest block is old after the longer time: %s', async (_title, blockSeconds, limit) => {
  const { clock, time } = startTime(blockSeconds)
  await clock.advance(limit * 1000)
  expect(time.isStale()).toBe(false)
  await clock.advance(1000)
  expect(time.isStale()).toBe(true)
  time.see(block(101, START + limit))
  expect(time.isStale()).toBe(false)
})

it('the time between two blocks follows the last blocks, also after the chain has begun again', () => {
  const { time } = startTime(2)
  expect(time.blockSeconds()).toBe(2)
  for (let number = 101; number <= 400; number++) time.see(block(number, START + 12 * (number - 100)))
  expect(time.blockSeconds()).toBe(12)
  for (const number of [3, 4]) time.see(block(number, START))
  expect(time.blockSeconds()).toBe(0)
})

it.each([
  ['a minute, where blocks are fast', 1, 60],
  ['the confirmations, where they are slow', 12, CONFIRMATIONS],
])('as many blocks are read again as %s', (_title, blockSeconds, blocks) => {
  const { time } = startTime(blockSeconds)
  for (let number = 101; number <= 500; number++)
    time.see(block(number, START + blockSeconds * (number - 100)))
  expect(time.overlap()).toBe(blocks)
  // Blocks that come at once tell no time.
  for (let number = 501; number <= 600; number++) time.see(block(number, START + blockSeconds * 400))
  expect(time.overlap()).toBe(100 + 60 / blockSeconds)
})

it('no reorganisation is expected to remove a block with the confirmations, nor the first one of a chain', () => {
  const { time } = startTime(1)
  expect([time.atDepth(), time.atDepth(0)]).toEqual([{ blockNumber: 80n }, { blockNumber: 100n }])
  for (const number of [6, 7]) time.see(block(number, START))
  expect(time.atDepth()).toEqual({ blockNumber: 0n })
})

it.each([
  ['the first one is an hour old by the clock of the machine', 3_600, 0],
  ['it comes an hour later by the clock that is never set, and that of the machine is wrong', 0, 3_600],
])('a block that is an hour after the first one counts where %s', async (_why, ahead, later) => {
  const { clock, time } = startTime(1)
  clock.set((START + ahead) * 1000)
  await clock.advance(later * 1000)
  clock.set((START + ahead) * 1000)
  expect([time.see(block(101, START + 3_600)), time.passed()]).toEqual([true, START + 3_600])
})

it('a node that begins to lag is seen although the clock of the machine is behind', async () => {
  const { clock, time } = startTime(2)
  clock.set((START - 60) * 1000)
  async function passBlocks(from: number, to: number, lag: number) {
    for (let number = from; number <= to; number++) {
      await clock.advance(2_000)
      time.see(block(number, START + 2 * (number - 100) - lag))
    }
  }
  await passBlocks(101, 120, 0)
  expect([time.lagSeconds(), time.now() - START]).toEqual([0, 40])
  await passBlocks(121, 160, 20)
  expect([Math.round(time.lagSeconds()), time.now() - START, time.isStale()]).toEqual([20, 120, false])
  await clock.advance(41_000)
  expect(time.isStale()).toBe(true)
})

it.each([
  ['a second', 1, 3_600],
  ['an hour', 3_600, 40_000],
])(
  'where a block comes each %s, one that is far ahead counts when another one follows it',
  (_title, apart, far) => {
    const { time } = startTime(apart)
    const first = START + far
    expect([time.see(block(101, START + apart)), time.see(block(102, first))]).toEqual([true, false])
    expect([time.see(block(103, first + apart)), time.passed()]).toEqual([true, first + apart])
  },
)

it('one block of another chain or of an old state, and then the right ones again, changes nothing', () => {
  const { time } = startTime(1)
  for (let number = 101; number <= 300; number++) time.see(block(number, START + number - 100))
  const before = time.overlap()
  for (const odd of [block(150, START), block(9_000, START + 3_600)]) {
    expect(time.see(odd)).toBe(false)
    expect([time.see(block(301, START + 201)), time.overlap()]).toEqual([true, before])
  }
})
