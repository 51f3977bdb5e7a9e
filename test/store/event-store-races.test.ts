import { setTimeout as wait } from 'node:timers/promises'
import { expect, test } from 'vitest'
import type { LogEntry } from '../../src/domain/event.js'
import { FencedError } from '../../src/store/leader-epochs.js'
import { createRandom } from '../random.js'
import { inPostgres, postgresAt } from './databases.js'
import { openStore } from './event-samples.js'
import { createRacingReader, eventsOf, follow, type RacingReader, standingOf } from './racing-reader.js'

const SEED = 20_260_107
const TIMEOUT_MS = 30_000
const TAKEOVERS = 30
const STEPS = 40
/** As long as some writes take, so that a take-over meets them at any point. */
const MAX_PAUSE_MS = 12

const create = inPostgres()

/** The stores of three replicas, with connections of their own. */
async function openReplicas(now?: () => number) {
  const on = postgresAt((await create()).url)
  return Promise.all([openStore(on, now), openStore(on, now), openStore(on, now)])
}

/** What readers were told together, if it has no gap and nothing twice. */
function logOf(...readers: RacingReader[]): LogEntry[] {
  const log = readers.flatMap(({ told }) => told).sort((a, b) => a.sequence - b.sequence)
  expect(log.map(({ sequence }) => sequence)).toEqual(log.map((_, index) => index + 1))
  return log
}

async function readUntilDeposed(reader: RacingReader): Promise<void> {
  try {
    for (;;) await reader.step()
  } catch (error) {
    if (!(error instanceof FencedError)) throw error
  }
}

test(
  'a chain that is taken over while it is written goes on where the reader before was told that it is',
  async () => {
    const random = createRandom(SEED)
    const [a, b, c] = await openReplicas()
    const follower = follow(c.store)
    let holder = createRacingReader(a.store, 'a', random)
    let next = createRacingReader(b.store, 'b', random)
    await holder.takeOver(1)
    await holder.begin()
    for (let round = 1; round <= TAKEOVERS; round++) {
      const deposed = readUntilDeposed(holder)
      await wait(random.integer(0, MAX_PAUSE_MS))
      const { position, number } = await next.takeOver(1)
      await deposed
      expect(number).toBe(round + 1)
      expect(position?.headers).toEqual(holder.headers())
      next.learn(holder.blocks())
      const before = holder
      holder = next
      next = before
    }

    const log = logOf(holder, next)
    expect(log.length).toBeGreaterThan(TAKEOVERS)
    expect(await follower.stop()).toStrictEqual(log)
    expect(standingOf(log, 1)).toStrictEqual(eventsOf(holder.blocks()))
  },
  TIMEOUT_MS,
)

test('of replicas that take a chain over at the same time, the one with the last term reads it', async () => {
  const cluster = await openReplicas()
  const random = createRandom(SEED)
  const readers = cluster.map(({ store }, index) => createRacingReader(store, `r${index}`, random))
  for (let round = 0; round < 10; round++) {
    const terms = await Promise.all(readers.map((reader) => reader.takeOver(1)))
    expect(terms.map(({ number }) => number).sort((x, y) => x - y)).toEqual(
      [1, 2, 3].map((n) => 3 * round + n),
    )
    const begun = await Promise.allSettled(readers.map((reader) => reader.begin()))
    const isLast = terms.map(({ number }) => number === 3 * round + 3)
    expect(begun.map(({ status }) => status === 'fulfilled')).toEqual(isLast)
  }
})

test(
  'chains that are written by two replicas make one log, which nobody sees before what leads to it',
  async () => {
    const random = createRandom(SEED)
    const [a, b, c] = await openReplicas()
    const followers = [follow(a.store), follow(b.store, 500), follow(c.store, 1)]
    const one = createRacingReader(a.store, 'a', random)
    const two = createRacingReader(b.store, 'b', random)
    await Promise.all(
      [one, two].map(async (reader, index) => {
        await reader.takeOver(index + 1)
        await reader.begin()
        for (let step = 0; step < STEPS; step++) await reader.step()
      }),
    )

    const log = logOf(one, two)
    expect(new Set(log.map(({ event }) => event.chainId))).toEqual(new Set([1, 2]))
    for (const follower of followers) expect(await follower.stop()).toStrictEqual(log)
    expect(standingOf(log, 1)).toStrictEqual(eventsOf(one.blocks()))
    expect(standingOf(log, 2)).toStrictEqual(eventsOf(two.blocks()))
    expect(await c.store.readState()).toMatchObject({ lastSequence: log.length, prunedSequence: 0 })
  },
  TIMEOUT_MS,
)

test(
  'replicas write, begin anew and remove what is old at the same time, and none is in the way of another',
  async () => {
    const random = createRandom(SEED)
    const clock = { ms: 0 }
    const [a, b, c] = await openReplicas(() => ++clock.ms)
    const one = createRacingReader(a.store, 'a', random)
    const two = createRacingReader(b.store, 'b', random)
    const pruned: number[][] = [[], []]
    let isOver = false
    const pruning = [a.store, c.store].map(async (store, index) => {
      while (!isOver) pruned[index]?.push(await store.prune(clock.ms - random.integer(0, 20)))
    })
    await Promise.all(
      [one, two].map(async (reader, index) => {
        await reader.takeOver(index + 1)
        for (let step = 0; step < STEPS; step++) await (step % 10 === 0 ? reader.begin() : reader.step())
      }),
    )
    isOver = true
    await Promise.all(pruning)

    const log = logOf(one, two)
    const { lastSequence, prunedSequence } = await c.store.readState()
    expect(lastSequence).toBe(log.length)
    expect(prunedSequence).toBe(Math.max(...pruned.flat()))
    expect(prunedSequence).toBeGreaterThan(0)
    for (const each of pruned) expect(each).toEqual([...each].sort((x, y) => x - y))
    expect(await c.store.readAfter(0, 10_000)).toStrictEqual(log.slice(prunedSequence - 1))
  },
  TIMEOUT_MS,
)
