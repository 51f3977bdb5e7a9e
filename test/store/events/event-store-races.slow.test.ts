import { setTimeout as wait } from 'node:timers/promises'
import { expect, test } from 'vitest'
import type { LogEntry } from '../../../packages/protocol/src/orders/event.js'
import { FencedError } from '../../../src/store/events/chain-positions.js'
import { createRandom } from '../../support/random.js'
import { inPostgres, postgresAt } from '../databases.js'
import { openStore } from './event-samples.js'
import { canonicalEvents, createRacingLeader, eventsOf, follow, type RacingLeader } from './racing-leader.js'

const SEED = 20_260_107
const TAKEOVERS = 30
const STEPS = 40
/** Duration of some writes, so that a take-over happens at any point of them. */
const MAX_PAUSE_MS = 12

const create = inPostgres()

/** The stores of three replicas, each with its own connections. */
async function openReplicas(now?: () => number) {
  const on = postgresAt((await create()).url)
  return Promise.all([openStore(on, now), openStore(on, now), openStore(on, now)])
}

/** The entries that leaders received together. Throws for a gap or a duplicate. */
function logOf(...leaders: RacingLeader[]): LogEntry[] {
  const log = leaders.flatMap(({ received }) => received).sort((a, b) => a.sequence - b.sequence)
  expect(log.map(({ sequence }) => sequence)).toEqual(log.map((_, index) => index + 1))
  return log
}

async function writeUntilFenced(leader: RacingLeader): Promise<void> {
  try {
    for (;;) await leader.step()
  } catch (error) {
    if (!(error instanceof FencedError)) throw error
  }
}

test('a chain that is taken over during a write continues at the position that the earlier leader received', async () => {
  const random = createRandom(SEED)
  const [a, b, c] = await openReplicas()
  const follower = follow(c.store)
  let holder = createRacingLeader(a.store, 'a', random)
  let next = createRacingLeader(b.store, 'b', random)
  await holder.takeOver(1)
  await holder.begin()
  for (let round = 1; round <= TAKEOVERS; round++) {
    // On a busy machine, the next one may come before another write.
    await holder.step()
    const fenced = writeUntilFenced(holder)
    await wait(random.integer(0, MAX_PAUSE_MS))
    const { position, epoch } = await next.takeOver(1)
    await fenced
    expect(epoch).toBe(round + 1)
    expect(position?.headers).toEqual(holder.headers())
    next.learn(holder.blocks())
    const before = holder
    holder = next
    next = before
  }

  const log = logOf(holder, next)
  expect(log.length).toBeGreaterThan(TAKEOVERS)
  expect(await follower.stop()).toStrictEqual(log)
  expect(canonicalEvents(log, 1)).toStrictEqual(eventsOf(holder.blocks()))
})

test('two replicas that write chains make one log, and no reader sees an entry before its predecessors', async () => {
  const random = createRandom(SEED)
  const [a, b, c] = await openReplicas()
  const followers = [follow(a.store), follow(b.store, 500), follow(c.store, 1)]
  const one = createRacingLeader(a.store, 'a', random)
  const two = createRacingLeader(b.store, 'b', random)
  await Promise.all(
    [one, two].map(async (leader, index) => {
      await leader.takeOver(index + 1)
      await leader.begin()
      for (let step = 0; step < STEPS; step++) await leader.step()
    }),
  )

  const log = logOf(one, two)
  expect(new Set(log.map(({ event }) => event.chainId))).toEqual(new Set([1, 2]))
  for (const follower of followers) expect(await follower.stop()).toStrictEqual(log)
  expect(canonicalEvents(log, 1)).toStrictEqual(eventsOf(one.blocks()))
  expect(canonicalEvents(log, 2)).toStrictEqual(eventsOf(two.blocks()))
  expect(await c.store.readState()).toMatchObject({ lastSequence: log.length, prunedSequence: 0 })
})
