import { describe, expect, test, vi } from 'vitest'
import type { ClientId } from '../../src/clients/client-id.js'
import type { Subscription } from '../../src/events/subscriber.js'
import type { ManualClock } from '../support/manual-clock.js'
import { now, openHub, range, settle, take } from './hub-harness.js'

const STORED = 1000
const NOTHING = { users: new Set(['0xno'] as const) }

const client = (key: string, networks: ClientId['networks'] = []): ClientId => ({
  key,
  address: '',
  network: networks.at(-1)?.key ?? key,
  networks,
  region: '',
  isIpv6: networks.length > 0,
  isPrivate: false,
})
/** A client of an IPv6 /48, in its own /64. */
const ofSite = (number: number, site = 'site') =>
  client(`${site}:${number}`, [
    { key: `${site}:${number}/56`, prefixLength: 56 },
    { key: `${site}/48`, prefixLength: 48 },
  ])

/** A hub whose store answers a read only when the test lets it. Reads are identified by their start. */
async function openGatedHub(stored = STORED) {
  const opened = await openHub({ stored })
  const { readAfter, store } = opened
  const waiting: { readonly after: number; open(): void }[] = []
  readAfter.mockImplementation(async (after, limit) => {
    await new Promise<void>((resolve) => waiting.push({ after, open: resolve }))
    return store.readAfter(after, limit)
  })
  return {
    ...opened,
    /** Answers the reads that have begun, and those that begin then, this number of times. */
    async pass(times = 1) {
      for (let left = times; left > 0; left--) {
        await settle()
        for (const read of waiting.splice(0)) read.open()
      }
      await settle()
    },
  }
}

const reads = ({ readAfter }: { readAfter: { mock: { calls: unknown[][] } } }) =>
  readAfter.mock.calls.map(([after]) => after as number)

describe('replays', () => {
  test('of one client are at most four at once; the others wait in their order', async () => {
    const opened = await openGatedHub()
    const one = client('one')
    const pages = range(0, 7).map((page) => opened.subscribe(page * 100, {}, { client: one }))
    const taken = pages.map((subscription) => subscription.next())
    await settle()
    expect(opened.hub.replays()).toEqual({ running: 4, waiting: 4 })
    await opened.pass()
    expect(opened.hub.replays()).toEqual({ running: 4, waiting: 0 })
    await opened.pass(4)
    await Promise.all(taken)
    expect(reads(opened)).toEqual(range(0, 7).map((page) => page * 100))
    expect(opened.hub.replays()).toEqual({ running: 0, waiting: 0 })
  })

  test('of all clients are at most 32, and of an IPv6 /48 a quarter of that', async () => {
    const opened = await openGatedHub(12_000)
    const follow = (who: ClientId, page: number) => {
      const subscription = opened.subscribe(page * 100, {}, { client: who })
      subscription.next().catch(() => {})
      return subscription
    }
    const site = range(0, 39).map((page) => follow(ofSite(page), page))
    await settle(40)
    expect(opened.hub.replays()).toEqual({ running: 8, waiting: 32 })
    const others = range(40, 79).map((page) => follow(client(String(page)), page))
    await settle(40)
    expect(opened.hub.replays()).toEqual({ running: 32, waiting: 48 })
    for (const subscription of [...site, ...others]) subscription.close()
    expect(opened.hub.replays()).toEqual({ running: 32, waiting: 0 })
    await opened.pass(20)
    expect(opened.hub.replays()).toEqual({ running: 0, waiting: 0 })
  })

  test('with a filter begin one read in each turn of the event loop', async () => {
    const { subscribe, readMatching } = await openHub({ stored: STORED })
    const clients = range(1, 20).map(String)
    for (const who of clients)
      void subscribe(0, NOTHING, { client: client(who) })
        .next()
        .catch(() => {})
    for (let turns = 1; turns <= 5; turns++) {
      await settle(1)
      expect(readMatching.mock.calls.length).toBeLessThanOrEqual(turns)
    }
    await settle(30)
    expect(readMatching.mock.calls.length).toBeGreaterThanOrEqual(clients.length)
  })

  test('from the same position cost one read a page, however many clients there are', async () => {
    const opened = await openHub({ stored: STORED })
    const taken = range(1, 500).map((who) =>
      take(opened.subscribe(0, {}, { client: client(String(who)) }), STORED),
    )
    for (const sequences of await Promise.all(taken)) expect(sequences).toEqual(range(1, STORED))
    expect(reads(opened)).toEqual(range(0, 9).map((page) => page * 100))
  })
})

describe('a replay that waits', () => {
  async function passTime(clock: ManualClock, ms: number): Promise<void> {
    for (let passed = 0; passed < ms; passed += 500) {
      await clock.advance(500)
      await settle(3)
    }
  }

  /** A hub with four replays of one client whose pages never come, and a fifth one. */
  async function openCrowded() {
    const opened = await openGatedHub(2000)
    const one = client('one')
    const running = range(0, 3).map((page) => opened.subscribe(page * 100, {}, { client: one }))
    const follow = async (subscription: Subscription) => {
      for (;;) await subscription.next()
    }
    for (const subscription of running) follow(subscription).catch(() => {})
    return { ...opened, running, waiting: opened.subscribe(1000, {}, { client: one }) }
  }

  test('gets an empty batch every 15 s, keeps its position in the log, and is never too slow', async () => {
    const { waiting, cursorAt, onSlow, running, pass, clock } = await openCrowded()
    for (let round = 0; round < 8; round++) {
      const next = waiting.next()
      await passTime(clock, 15_500)
      expect(await now(next)).toEqual([])
      expect(waiting.cursor()).toBe(cursorAt(1000))
    }
    expect(onSlow).not.toHaveBeenCalled()
    const next = waiting.next()
    for (const subscription of running) subscription.close()
    await pass(3)
    expect((await next)[0]).toMatchObject({ sequence: 1001 })
  })
})

test('onEnd is called once, whatever ends a subscription', async () => {
  const { hub, subscribe } = await openHub({ stored: 3 })
  const onEnd = vi.fn<() => void>()
  const first = subscribe(0, {}, { onEnd })
  first.close()
  first.close()
  expect(onEnd).toHaveBeenCalledTimes(1)
  subscribe(0, NOTHING, { onEnd })
  hub.close()
  hub.close()
  expect(onEnd).toHaveBeenCalledTimes(2)
})
