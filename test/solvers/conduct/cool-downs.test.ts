import { pino } from 'pino'
import { expect, onTestFinished, test } from 'vitest'
import type { EventWithPosition } from '../../../packages/protocol/src/orders/block.js'
import type { OrderEvent } from '../../../packages/protocol/src/orders/event.js'
import type { Address, Hex } from '../../../packages/protocol/src/values/hex.js'
import { createCoolDowns } from '../../../src/solvers/conduct/cool-downs.js'
import { createSolverOrderStore } from '../../../src/store/orders/solver-order-store.js'
import { header, newBlocks, openToRead, SETTLEMENT } from '../../store/events/event-samples.js'
import { createManualClock } from '../../support/manual-clock.js'

const SOLVER = '0x0c'
const KEY = { chainId: 1, address: SOLVER } as const
const START = 1_700_000_000
const LENGTH = 3600
const INTERVAL_MS = 1000

function eventOf(type: 'Deposited' | 'Refunded', number: number, blockNumber: number): EventWithPosition {
  const event = {
    type,
    chainId: 1,
    orderId: `0x${number}` as Hex,
    user: `0xb${number}` as Address,
    solver: SOLVER,
    blockNumber,
    logIndex: number,
    transactionHash: '0x7a',
    blockTime: START + blockNumber,
    inputToken: '0x1a',
    inputAmount: 1n,
    outputToken: '0x1b',
    outputAmount: 1n,
    bondSlashed: 1n,
    fillDeadline: START,
  } as const
  return { event: event as OrderEvent, blockHash: header(blockNumber).hash }
}

/** The refunds of two users in block 12, which trigger a cool-down. */
const REFUNDS = [1, 2].map((number) => eventOf('Refunded', number, 12))

async function open() {
  const { database, store, one } = await openToRead(':memory:')
  await store.begin(one, SETTLEMENT, header(10))
  const deposits = [1, 2].map((number) => eventOf('Deposited', number, 11))
  await store.append(one, newBlocks(11, 11, deposits))
  const solverOrders = createSolverOrderStore(database)
  const clock = createManualClock(1000 * (START + 60))
  const reads: number[] = []
  const lines: string[] = []
  const state = { isUp: true }
  const coolDowns = createCoolDowns({
    fadeCooldownSeconds: LENGTH,
    chains: [KEY],
    store: {
      ...solverOrders,
      async readRefunded(...parameters) {
        reads.push(clock.monotonic())
        if (!state.isUp) throw new Error('the database is down')
        return solverOrders.readRefunded(...parameters)
      },
    },
    now: clock.now,
    clock,
    log: pino({ level: 'info' }, { write: (line) => void lines.push(JSON.parse(line).msg) }),
  })
  if (coolDowns === undefined) throw new Error('the length of a cool-down is not 0')
  onTestFinished(coolDowns.close)
  await coolDowns.load()
  return {
    clock,
    coolDowns,
    reads,
    lines,
    state,
    refund: () => store.append(one, newBlocks(12, 12, REFUNDS)),
    revert: () => store.revert(one, header(11)),
  }
}

const [refund] = REFUNDS as [EventWithPosition]

test('a flood of events reads the orders of their solver at most once a second', async () => {
  const { clock, coolDowns, reads, refund: writeRefunds } = await open()
  await writeRefunds()
  for (let ms = 0; ms < 3 * INTERVAL_MS; ms += 10) {
    for (let count = 0; count < 100; count++) coolDowns.onEvent(refund.event)
    await clock.advance(10)
  }
  expect(reads).toEqual([INTERVAL_MS, 2 * INTERVAL_MS, 3 * INTERVAL_MS])
  expect(coolDowns.of(KEY)).toEqual({ until: 1000 * (START + 12 + LENGTH), level: 1, ...KEY })
})

test('a database that fails leaves the last known cool-downs, and is logged once', async () => {
  const { clock, coolDowns, reads, lines, state, refund: writeRefunds, revert } = await open()
  await writeRefunds()
  coolDowns.onEvent(refund.event)
  await clock.advance(INTERVAL_MS)
  expect(coolDowns.of(KEY)?.level).toBe(1)
  lines.length = 0
  state.isUp = false
  await revert()
  const before = reads.length
  coolDowns.onEvent({ ...refund.event, type: 'Reverted', event: 'Refunded' })
  await clock.advance(4 * INTERVAL_MS)
  expect(reads.length).toBe(before + 4)
  expect([coolDowns.of(KEY)?.level, lines]).toEqual([
    1,
    ['cool-downs of solvers could not be read: the last known ones stay'],
  ])
  state.isUp = true
  await clock.advance(4 * INTERVAL_MS)
  expect(coolDowns.of(KEY)).toBeUndefined()
  expect(lines.slice(1)).toEqual([
    'the cool-down of a solver has ended',
    'cool-downs of solvers are read again',
  ])
})

test('events of solvers without refunds read nothing', async () => {
  const { clock, coolDowns, reads, refund: writeRefunds } = await open()
  coolDowns.onEvent({ ...eventOf('Deposited', 1, 11).event, solver: '0x0d' })
  await writeRefunds()
  coolDowns.onEvent(refund.event)
  await clock.advance(INTERVAL_MS)
  expect(coolDowns.of(KEY)?.level).toBe(1)
  expect(reads).toHaveLength(1)
})
