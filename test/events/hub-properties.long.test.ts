import { setImmediate as turn } from 'node:timers/promises'
import fc from 'fast-check'
import { expect, test } from 'vitest'
import {
  EVERY_EVENT,
  type EventFilter,
  type LogEntry,
  matches,
} from '../../packages/protocol/src/orders/event.js'
import type { EventSink } from '../../src/chain/event-sink.js'
import type { TopicListener } from '../../src/cluster/cluster.js'
import type { InstanceContext } from '../../src/cluster/instance.js'
import { type EventLog, openEventLog } from '../../src/events/event-log.js'
import type { Subscription } from '../../src/events/subscriber.js'
import { createEventStore, type EventStore } from '../../src/store/events/event-store.js'
import { openSqlite } from '../../src/store/sqlite/sqlite.js'
import type { Topic } from '../../src/store/topics.js'
import { createLog } from '../../src/telemetry/log.js'
import { createMetrics } from '../../src/telemetry/metrics.js'
import { header, manySettled, newBlocks } from '../store/events/event-samples.js'
import { createManualClock } from '../support/manual-clock.js'
import { only } from '../support/only.js'
import { rounds } from '../support/rounds.js'
import { settle } from './hub-harness.js'

const SEED = 20_260_107
const RUNS = rounds(30, 6)
/** Turns of the event loop, far more than any run needs. The loop ends when all clients have their events. */
const MAX_TURNS = 20_000

interface Reader {
  /** Start as a share of the log so far; undefined for live events only. */
  readonly from: number | undefined
  readonly filter: Partial<EventFilter>
  /** Turns of the event loop for which it is busy after each batch, in a cycle. */
  readonly pauses: readonly number[]
}

type Move =
  | { readonly kind: 'append'; readonly chainId: number; readonly count: number; readonly isAwaited: boolean }
  | { readonly kind: 'revert'; readonly chainId: number; readonly depth: number; readonly isAwaited: boolean }
  | { readonly kind: 'subscribe'; readonly reader: Reader; readonly at: number }
  | { readonly kind: 'restart'; readonly at: number; readonly reconnectsAt: number }
  | { readonly kind: 'takeOver'; readonly chainId: number; readonly at: number }
  | { readonly kind: 'notify'; readonly at: number }
  | { readonly kind: 'pause'; readonly turns: number }

const chainId = fc.constantFrom(1, 2)
/** One of two replicas. */
const at = fc.constantFrom(0, 1)
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
  { weight: 5, arbitrary: fc.record({ kind: fc.constant('subscribe' as const), reader, at }) },
  { weight: 1, arbitrary: fc.record({ kind: fc.constant('restart' as const), at, reconnectsAt: at }) },
  { weight: 1, arbitrary: fc.record({ kind: fc.constant('takeOver' as const), chainId, at }) },
  { weight: 4, arbitrary: fc.record({ kind: fc.constant('notify' as const), at }) },
  { weight: 3, arbitrary: fc.record({ kind: fc.constant('pause' as const), turns: fc.nat(3) }) },
)

/** A subscriber, over all its connections. */
interface Client {
  readonly reader: Reader
  after: number
  readonly received: Omit<LogEntry, 'digest'>[]
  /** The cursor with which it would reconnect. */
  lastCursor: string
  /** The replica that it is connected to. */
  at: number
  subscription: Subscription
}

/** The log of one replica, and its listener for messages of other replicas. */
interface Replica {
  readonly eventLog: EventLog
  readonly listener: TopicListener
}

const metrics = createMetrics()
const log = createLog('silent')

async function openReplica(store: EventStore): Promise<Replica> {
  let listener: TopicListener | undefined
  const cluster = {
    listen(topic: Topic, given: TopicListener) {
      if (topic === 'events') listener = given
    },
    publish() {},
  }
  const context = only<InstanceContext>({
    config: { eventRetentionDays: 1 },
    instance: { stores: { events: store }, cluster },
    metrics,
    log,
    clock: createManualClock(1),
  })
  const eventLog = await openEventLog(context, () => {}, 50)
  if (listener === undefined) throw new Error('the event log does not listen')
  return { eventLog, listener }
}

async function run(moves: readonly Move[]): Promise<void> {
  const database = await openSqlite(':memory:')
  const store = createEventStore(database, () => 1)
  const cluster = [await openReplica(store), await openReplica(store)]
  const replicaAt = (index: number) => cluster[index] as Replica
  const { logId } = await store.readState()
  const cursorAt = async (sequence: number) => {
    const entry = await store.readEntry(sequence)
    return `${logId}.${sequence.toString(36)}${entry === undefined ? '' : `.${entry.digest}`}`
  }
  const sequenceOf = (cursor: string) => Number.parseInt(cursor.split('.')[1] ?? '', 36)
  const clients: Client[] = []
  const heights = new Map([1, 2].map((id) => [id, 0]))
  const eventSinks = new Map<number, { readonly at: number; readonly eventSink: EventSink }>()
  const writes: Promise<void>[] = []

  async function takeOver(id: number, index: number): Promise<EventSink> {
    await Promise.all(writes)
    const eventSink = replicaAt(index).eventLog.eventSinkOf(id)
    await eventSink.open()
    eventSinks.set(id, { at: index, eventSink })
    return eventSink
  }

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

  async function connect(client: Client, cursor: string | undefined): Promise<void> {
    const { eventLog } = replicaAt(client.at)
    await eventLog.waitForCursor(cursor)
    client.subscription = eventLog.subscribe(cursor, { ...EVERY_EVENT, ...client.reader.filter })
    client.lastCursor = client.subscription.cursor()
    client.after ??= sequenceOf(client.lastCursor)
    follow(client, client.subscription).catch(() => {})
  }

  const eventSinkOf = (id: number) => eventSinks.get(id)?.eventSink as EventSink
  const moved: { [K in Move['kind']]: (move: Extract<Move, { kind: K }>) => unknown } = {
    append({ chainId, count, isAwaited }) {
      const block = (heights.get(chainId) ?? 0) + 1
      heights.set(chainId, block)
      writes.push(eventSinkOf(chainId).append(newBlocks(block, block, manySettled(chainId, block, count))))
      return isAwaited && writes.at(-1)
    },
    async revert({ chainId, depth, isAwaited }) {
      const height = Math.max(0, (heights.get(chainId) ?? 0) - depth)
      heights.set(chainId, height)
      writes.push(eventSinkOf(chainId).revert(header(height)))
      return isAwaited && writes.at(-1)
    },
    async subscribe({ reader, at }) {
      const { lastSequence } = await store.readState()
      const cursor =
        reader.from === undefined ? undefined : await cursorAt(Math.floor(reader.from * lastSequence))
      const client = { reader, received: [], at } as unknown as Client
      clients.push(client)
      await connect(client, cursor)
    },
    takeOver: ({ chainId, at }) => takeOver(chainId, at),
    async notify({ at }) {
      replicaAt(at).listener.onMessage(String((await store.readState()).lastSequence))
    },
    async restart({ at, reconnectsAt }) {
      await Promise.all(writes)
      await replicaAt(at).eventLog.close()
      cluster[at] = await openReplica(store)
      for (const [id, eventSink] of eventSinks) if (eventSink.at === at) await takeOver(id, at)
      for (const client of clients.filter((each) => each.at === at)) {
        client.at = reconnectsAt
        await connect(client, client.lastCursor)
      }
    },
    pause: ({ turns }) => settle(turns),
  }

  try {
    for (const id of heights.keys()) await (await takeOver(id, id - 1)).begin('0x5e', header(0))
    for (const each of moves) await moved[each.kind](each as never)
    await Promise.all(writes)
    for (const { listener } of cluster) listener.onMissed()
    const all = await store.readAfter(0, 1_000_000)
    expect(all.map(({ sequence }) => sequence)).toEqual(all.map((_, index) => index + 1))
    const wanted = ({ reader, after }: Client) =>
      all
        .slice(after)
        .filter(({ event }) => matches({ ...EVERY_EVENT, ...reader.filter }, event))
        .map(({ sequence, event }) => ({ sequence, event }))
    const isAtEnd = ({ subscription }: Client) => sequenceOf(subscription.cursor()) === all.length
    for (let turns = 0; turns < MAX_TURNS && !clients.every(isAtEnd); turns++) await turn()
    await settle(10)
    for (const client of clients) {
      expect(sequenceOf(client.subscription.cursor())).toBe(all.length)
      expect(client.received).toStrictEqual(wanted(client))
    }
  } finally {
    for (const { eventLog } of cluster) await eventLog.close()
    await database.destroy()
  }
}

test('a client at any replica gets exactly the events after its cursor, whatever happens meanwhile', async () => {
  const histories = fc.array(move, { minLength: 1, maxLength: 40, size: 'max' })
  await fc.assert(fc.asyncProperty(histories, run), { seed: SEED, numRuns: RUNS, endOnFailure: true })
})
