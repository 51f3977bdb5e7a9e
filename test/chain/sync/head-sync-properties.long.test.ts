import { expect, it, onTestFinished } from 'vitest'
import type { StreamEvent } from '../../../packages/protocol/src/orders/event.js'
import type { Hex } from '../../../packages/protocol/src/values/hex.js'
import type { BlockListener } from '../../../src/chain/chain-listeners.js'
import { createBlockReader } from '../../../src/chain/logs/block-reader.js'
import { createBlockProcessor } from '../../../src/chain/sync/block-processor.js'
import type { ChainSyncContext } from '../../../src/chain/sync/context.js'
import { createHeadSync } from '../../../src/chain/sync/head-sync.js'
import type { InstanceContext } from '../../../src/cluster/instance.js'
import { openEventLog } from '../../../src/events/event-log.js'
import { createEventStore } from '../../../src/store/events/event-store.js'
import { openSqlite } from '../../../src/store/sqlite/sqlite.js'
import { createLog } from '../../../src/telemetry/log.js'
import { createMetrics } from '../../../src/telemetry/metrics.js'
import { TEST_HANG_MS } from '../../support/hang.js'
import { createManualClock } from '../../support/manual-clock.js'
import { BASE_FEE } from '../../support/model-chain/model-chain.js'
import { toBlock } from '../../support/model-chain/model-node.js'
import { only } from '../../support/only.js'
import { createRandom, type Random } from '../../support/random.js'
import { rounds } from '../../support/rounds.js'
import { SETTLEMENT } from './any-orders.js'
import { createFaultyEventSink } from './faulty-event-sink.js'
import { createFaultyNode, drawHabits, ENDLESS, NO_HABITS } from './faulty-node.js'
import { createRandomChain, type RandomChain } from './random-chain.js'

/** Number of histories for each of the two properties. */
const SEEDS = Number(process.env.CHAIN_SEEDS ?? rounds(800, 8))
/** A history takes far less. */
const TIMEOUT_MS = TEST_HANG_MS + SEEDS * 5000
const MOVES = 15
const MAX_REORG_DEPTH = 8
const RECHECK_BLOCKS = 6
/** Correct polls after which all blocks are read. A lower head on another fork is followed at the third poll. */
const CORRECT_POLLS = 4
const CHAIN_ID = 1

const log = createLog('silent')
const metrics = createMetrics()
/** CHAIN_SEED plays one history. */
const seeds =
  process.env.CHAIN_SEED === undefined
    ? Array.from({ length: SEEDS }, (_, index) => index + 1)
    : [Number(process.env.CHAIN_SEED)]

/** The real reader, head sync and event log, between a model of a chain and a database in memory. */
async function createHistory(seed: number, confirmations: number) {
  const random = createRandom(seed)
  const hasReceipts = seed % 2 === 0
  const habits = seed % 4 < 2 ? NO_HABITS : drawHabits(random)
  const chain = createRandomChain(random, seed % 3 === 0 ? 0 : 3)
  const startBlock = random.integer(0, 4)
  let lateEvents = 0
  const node = createFaultyNode(chain, random, {
    chainId: CHAIN_ID,
    hasReceipts,
    freshBlocks: RECHECK_BLOCKS,
    habits,
  })
  const database = await openSqlite(':memory:')
  const store = createEventStore(database, () => 1)
  const cluster = { listen() {}, publish() {} }
  const instance = only<InstanceContext>({
    config: { eventRetentionDays: 1 },
    instance: { stores: { events: store }, cluster },
    metrics,
    log,
    clock: createManualClock(1),
  })
  const eventLog = await openEventLog(instance, () => {})
  const eventSink = eventLog.eventSinkOf(CHAIN_ID)
  const faulty = createFaultyEventSink({ ...eventSink, appendMissing }, random)

  /** Counts what is written, also when the service learns of a failure. */
  async function appendMissing(...parameters: Parameters<typeof eventSink.appendMissing>): Promise<number> {
    const added = await eventSink.appendMissing(...parameters)
    lateEvents += added
    return added
  }

  const config = {
    chainId: CHAIN_ID,
    settlement: SETTLEMENT,
    startBlock,
    confirmations,
    recheckBlocks: RECHECK_BLOCKS,
  } as const
  const listener: BlockListener = {
    onLogs() {},
    onReorganisation() {},
    onReopened() {},
    onLate() {},
    onPublished() {},
  }
  const parts = { config, maxReorgDepth: MAX_REORG_DEPTH, eventSink: faulty.eventSink, listener, log }
  const context = only<ChainSyncContext>(parts)
  const blocks = createBlockProcessor(context, () => {})
  const headSync = createHeadSync(context, blocks)
  const reader = createBlockReader(node.client, config, {
    clock: { ...createManualClock(), sleep: async () => {} },
    knownSolvers: faulty.eventSink.knownSolvers,
  })
  const run = { signal: new AbortController().signal, onProgress() {}, onBackfill() {} }

  async function poll(wrongAnswers: number, failures: number): Promise<void> {
    node.allow(wrongAnswers)
    faulty.allow(failures)
    const pushed = wrongAnswers === 0 ? undefined : drawHint(random, chain)
    await headSync.follow(reader, await reader.head(pushed), run)
  }

  /** Makes the node give wrong answers and the database fail, then makes both work again. */
  async function play(nextMove: () => void): Promise<void> {
    for (let move = 0; move < MOVES; move++) {
      nextMove()
      for (let left = random.integer(0, 3); left > 0; left--) {
        await poll(random.integer(0, 3), random.integer(0, 1)).catch((error: Error) => {
          if (error.message === ENDLESS) throw error
        })
      }
    }
    for (let left = CORRECT_POLLS; left > 0; left--) await poll(0, 0)
    node.catchUp()
    // Blocks without a proof are read again at this depth below the head.
    chain.grow(RECHECK_BLOCKS + confirmations)
    // The head may still be lower than the blocks that were read.
    for (let left = CORRECT_POLLS; left > 0; left--) await poll(0, 0)
  }

  return {
    random,
    chain,
    /** Whether no event came after those of later blocks. */
    isInOrder: () => lateEvents === 0,
    play,
    /** All published events. */
    published: async () => (await store.readAfter(0, 1_000_000)).map(({ event }) => event),
    /** The orders of the chain's events, up to the last confirmed block. */
    expected: () => chain.ordersOf(startBlock, chain.model.head().number - confirmations),
    async close() {
      await eventLog.close()
      await database.destroy()
    },
  }
}

type History = Awaited<ReturnType<typeof createHistory>>

/** A head as a node pushes it, which may be any other block, or none. */
function drawHint(random: Random, { model, upTo }: RandomChain): object {
  const head = toBlock(model.head(), BASE_FEE)
  const some = toBlock(upTo(random.integer(0, model.head().number)), BASE_FEE)
  return random.pick<() => object>([
    () => ({ ...head }),
    () => ({ ...head, logsBloom: null, parentHash: null, number: 'new' }),
    () => ({ ...head, hash: `0x${'ee'.repeat(32)}` }),
    () => ({ ...some, number: head?.number }),
    () => ({ hash: null }),
    () => ({}),
  ])()
}

/** Plays the history of each seed and checks it. */
async function forEachSeed(
  confirmationsOf: (seed: number) => number,
  nextMove: (history: History) => void,
  judge: (history: History, published: readonly StreamEvent[]) => void,
): Promise<void> {
  for (const seed of seeds) {
    const history = await createHistory(seed, confirmationsOf(seed))
    onTestFinished(history.close)
    try {
      await history.play(() => nextMove(history))
      judge(history, await history.published())
    } catch (error) {
      throw new Error(`seed ${seed}`, { cause: error })
    }
  }
}

/**
 * The events that a log has left, and those that were removed.
 * @param isInOrder whether no event comes after those of later blocks @throws Error for an impossible order
 */
function remainingEvents(published: readonly StreamEvent[], isInOrder: boolean) {
  const left: Hex[] = []
  const removed: Hex[] = []
  for (const { type, orderId } of published) {
    if (type === 'Reverted') {
      const place = left.lastIndexOf(orderId)
      if (place === -1 || (isInOrder && place < left.length - 1))
        throw new Error(`${orderId} was removed and is not the last one`)
      left.splice(place, 1)
      removed.push(orderId)
    } else if (left.includes(orderId)) throw new Error(`${orderId} came twice`)
    else left.push(orderId)
  }
  return { left, removed }
}

/** The least and the deepest reorganisation that keeps known blocks, one more, or any other. */
function drawDepth(random: Random): number {
  const deepest = MAX_REORG_DEPTH + random.integer(0, 2)
  return random.pick([1, 2, deepest, deepest + 1, random.integer(1, MAX_REORG_DEPTH * 3)])
}

it('the log ends with the events of the chain after any errors of a node and a database', {
  timeout: TIMEOUT_MS,
}, async () => {
  let removals = 0
  await forEachSeed(
    (seed) => seed % 3,
    ({ random, chain }) => {
      if (random.integer(0, 2) === 0) chain.reorganise(drawDepth(random))
      else chain.grow(random.integer(0, 20))
    },
    ({ isInOrder, expected }, published) => {
      const { left, removed } = remainingEvents(published, isInOrder())
      expect(isInOrder() ? left : [...left].sort()).toEqual(expected())
      removals += removed.length
    },
  )
  // One history may have none.
  if (seeds.length > 1) expect(removals).toBeGreaterThan(SEEDS / 3)
})

it('no wrong answer and no failure removes an event of a chain that only grows', {
  timeout: TIMEOUT_MS,
}, async () => {
  await forEachSeed(
    () => 0,
    ({ random, chain }) => chain.grow(random.integer(0, 20)),
    ({ isInOrder, expected }, published) => {
      const { left, removed } = remainingEvents(published, isInOrder())
      expect([...left].sort()).toEqual(expected())
      const wereOnChain = new Set(expected())
      expect(removed.filter((orderId) => wereOnChain.has(orderId))).toEqual([])
    },
  )
})
