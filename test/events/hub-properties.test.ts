import { setImmediate as turn } from 'node:timers/promises'
import fc from 'fast-check'
import { expect, test } from 'vitest'
import { type Announcement, type EventFilter, matches } from '../../src/domain/event.js'
import { openEventLog } from '../../src/events/event-log.js'
import type { Subscription } from '../../src/events/hub.js'
import { openDatabase } from '../../src/store/database.js'
import { createEventStore } from '../../src/store/event-store.js'
import { createLog } from '../../src/telemetry/log.js'
import { createMetrics } from '../../src/telemetry/metrics.js'
import { header, manySettled, newBlocks } from '../store/event-samples.js'
import { only, settle } from './hub-harness.js'

const SEED = 20_260_107
const RUNS = 30
/** Far more than any of the runs needs; the loop ends when all have got what they should. */
const MAX_TURNS = 2000

interface Reader {
  /** Where it begins, as a share of the log so far; live events only when undefined. */
  readonly from: number | undefined
  readonly filter: Partial<EventFilter>
  /** Turns of the event loop that it is busy after each batch, over and over. */
  readonly pauses: readonly number[]
}

type Move =
  | { readonly kind: 'append'; readonly chainId: number; readonly count: number; readonly isAwaited: boolean }
  | { readonly kind: 'revert'; readonly chainId: number; readonly depth: number; readonly isAwaited: boolean }
  | { readonly kind: 'subscribe'; readonly reader: Reader }
  | { readonly kind: 'restart' }
  | { readonly kind: 'pause'; readonly turns: number }

const chainId = fc.constantFrom(1, 2)
const count = fc.oneof(
  { weight: 8, arbitrary: fc.nat(6) },
  { weight: 1, arbitrary: fc.integer({ min: 498, max: 502 }) },
  { weight: 1, arbitrary: fc.integer({ min: 900, max: 1600 }) },
)
const reader: fc.Arbitrary<Reader> = fc.record({
  from: fc.option(fc.double({ min: 0, max: 1, noNaN: true }), { nil: undefined }),
  filter: fc.oneof(
    fc.constant({}),
    chainId.map((id) => ({ chainIds: new Set([id]) })),
    fc.constant({ types: new Set(['Reverted'] as const) }),
    fc.constant({ solvers: new Set(['0xa120c0'] as const) }),
  ),
  pauses: fc.array(fc.nat(4), { minLength: 1, maxLength: 4 }),
})
const move: fc.Arbitrary<Move> = fc.oneof(
  {
    weight: 5,
    arbitrary: fc.record({ kind: fc.constant('append' as const), chainId, count, isAwaited: fc.boolean() }),
  },
  {
    weight: 1,
    arbitrary: fc.record({
      kind: fc.constant('revert' as const),
      chainId,
      depth: fc.nat(4),
      isAwaited: fc.boolean(),
    }),
  },
  { weight: 5, arbitrary: fc.record({ kind: fc.constant('subscribe' as const), reader }) },
  { weight: 1, arbitrary: fc.constant({ kind: 'restart' as const }) },
  { weight: 3, arbitrary: fc.record({ kind: fc.constant('pause' as const), turns: fc.nat(3) }) },
)

/** A subscriber, over all its connections. */
interface Client {
  readonly reader: Reader
  readonly after: number
  readonly received: Announcement[]
  /** The cursor that it would come back with. */
  lastCursor: string
  subscription: Subscription
}

const metrics = createMetrics()
const log = createLog('silent')

async function run(moves: readonly Move[]): Promise<void> {
  const database = await openDatabase(':memory:')
  const store = createEventStore(database, () => 1)
  const open = () =>
    openEventLog({ store, eventRetentionDays: 1, maxStreamClients: 1000, metrics, log, now: () => 1 })
  let eventLog = await open()
  const { logId } = await store.readState()
  const cursorAt = (sequence: number) => `${logId}.${sequence.toString(36)}`
  const clients: Client[] = []
  const heights = new Map([1, 2].map((id) => [id, 0]))
  const writes: Promise<void>[] = []
  /** The end of the log as subscribers know it. */
  let published = 0
  for (const id of heights.keys()) await eventLog.begin(id, '0x5e', header(0))

  async function follow(client: Client, subscription: Subscription): Promise<void> {
    for (let index = 0; ; index++) {
      const batch = await subscription.next()
      if (subscription.ended.aborted) return
      for (const { sequence, event, cursor } of batch) {
        client.received.push({ sequence, event })
        client.lastCursor = cursor
      }
      await settle(client.reader.pauses[index % client.reader.pauses.length])
    }
  }

  function connect(client: Client): void {
    follow(client, client.subscription).catch(() => {})
  }

  function write(written: Promise<void>): void {
    writes.push(
      written.then(async () => {
        published = (await store.readState()).lastSequence
      }),
    )
  }

  const moved: { [K in Move['kind']]: (move: Extract<Move, { kind: K }>) => unknown } = {
    append({ chainId, count, isAwaited }) {
      const block = (heights.get(chainId) ?? 0) + 1
      heights.set(chainId, block)
      write(eventLog.append(chainId, newBlocks(block, block, manySettled(chainId, block, count))))
      return isAwaited && writes.at(-1)
    },
    async revert({ chainId, depth, isAwaited }) {
      const height = Math.max(0, (heights.get(chainId) ?? 0) - depth)
      heights.set(chainId, height)
      write(eventLog.revert(chainId, header(height)))
      return isAwaited && writes.at(-1)
    },
    async subscribe({ reader }) {
      // The end of the log is known only when nothing is being written.
      if (reader.from === undefined) await Promise.all(writes)
      const after = Math.floor((reader.from ?? 1) * published)
      const lastCursor = cursorAt(after)
      const cursor = reader.from === undefined ? undefined : lastCursor
      const subscription = eventLog.subscribe(cursor, only(reader.filter))
      const client = { reader, after, received: [], lastCursor, subscription }
      clients.push(client)
      connect(client)
    },
    async restart() {
      await Promise.all(writes)
      await eventLog.close()
      eventLog = await open()
      for (const client of clients) {
        client.subscription = eventLog.subscribe(client.lastCursor, only(client.reader.filter))
        connect(client)
      }
    },
    pause: ({ turns }) => settle(turns),
  }

  try {
    for (const each of moves) await moved[each.kind](each as never)
    await Promise.all(writes)
    const all = await store.readAfter(0, 1_000_000)
    expect(all.map(({ sequence }) => sequence)).toEqual(all.map((_, index) => index + 1))
    const wanted = ({ reader, after }: Client) =>
      all.slice(after).filter(({ event }) => matches(only(reader.filter), event))
    const isAtEnd = ({ subscription }: Client) => subscription.cursor() === cursorAt(all.length)
    for (let left = MAX_TURNS; left > 0 && !clients.every(isAtEnd); left--) await turn()
    await settle(10)
    for (const client of clients) {
      expect(client.subscription.cursor()).toBe(cursorAt(all.length))
      expect(client.received).toStrictEqual(wanted(client))
    }
  } finally {
    await eventLog.close()
    await database.destroy()
  }
}

test('whoever follows the log gets just what comes behind its cursor, whatever happens meanwhile', async () => {
  const histories = fc.array(move, { minLength: 1, maxLength: 40, size: 'max' })
  await fc.assert(fc.asyncProperty(histories, run), { seed: SEED, numRuns: RUNS })
}, 20_000)
