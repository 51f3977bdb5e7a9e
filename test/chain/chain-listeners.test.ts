import { expect, it } from 'vitest'
import type { EventWithPosition } from '../../packages/protocol/src/orders/block.js'
import type { DecodedLogs } from '../../packages/protocol/src/settlement/settlement.js'
import type { Address, Hex } from '../../packages/protocol/src/values/hex.js'
import {
  type ChainListener,
  createBlockListener,
  createChainListeners,
} from '../../src/chain/chain-listeners.js'
import { createOrderCaches } from '../../src/chain/contract/order-cache.js'
import { createMetrics } from '../../src/telemetry/metrics.js'
import { createManualClock } from '../support/manual-clock.js'
import { only } from '../support/only.js'

it('every listener receives what it listens to, in the order in which they were added', () => {
  const listeners = createChainListeners()
  const received: string[] = []
  const nonces: Partial<ChainListener> = {
    onNoncesCancelled: (cancelled) => received.push(`nonces of ${cancelled.length}`),
    onReset: () => received.push('nonces after a reset'),
  }
  listeners.notify.onReset()
  listeners.add({
    onBonds: (solvers) => received.push(`bonds of ${solvers?.size ?? 'all'}`),
    onReset: () => received.push('bonds after a reset'),
  })
  listeners.add(nonces)
  listeners.add(nonces)
  listeners.notify.onBonds(new Set(['0x1']))
  listeners.notify.onBonds(undefined)
  listeners.notify.onNoncesCancelled([{ solver: '0x1', nonce: 7n }])
  listeners.notify.onReset()
  expect(received).toEqual([
    'bonds of 1',
    'bonds of all',
    'nonces of 1',
    'nonces of 1',
    'bonds after a reset',
    'nonces after a reset',
    'nonces after a reset',
  ])
})

const ORDERS: readonly Hex[] = ['0x1', '0x2']

/** The listener of a leader that knows both orders, and what it does with the orders in memory at that time. */
async function startListener() {
  const orders = createOrderCaches([1]).of(1)
  const clock = createManualClock()
  const metrics = createMetrics()
  const done: string[] = []
  const note = (what: string) => {
    const cached = ORDERS.filter((orderId) => orders.peek(orderId, 1) !== undefined)
    done.push(`${what}; in memory: ${cached.join(' ') || 'none'}`)
  }
  const listener = createBlockListener(
    only({ config: { chainId: 1 }, orders, metrics, clock }),
    {
      onBonds: (solvers) => note(`bonds of ${solvers === undefined ? 'all' : [...solvers].join(' ')}`),
      onNoncesCancelled: (nonces) => note(`nonces ${nonces.map(({ nonce }) => nonce).join(' ')}`),
      onReset: () => note('reset'),
    },
    {
      publishSnapshot() {},
      invalidateOrders: (orderIds) => note(`publishes ${orderIds?.join(' ') ?? 'all'}`),
    },
  )
  for (const orderId of ORDERS) {
    const order = { state: 'NONE', chainId: 1, orderId } as const
    await orders.get(orderId, 1, async () => ({ order, atBlock: 1 }))
  }
  return { ...listener, done, clock, metrics }
}

const POSITION = { blockNumber: 5, logIndex: 0, transactionHash: '0x7', blockTime: 6 } as const

function settled(orderId: Hex, solver: Address): EventWithPosition {
  const event = { type: 'Settled', chainId: 1, orderId, user: '0xa', solver, ...POSITION } as const
  return { event, blockHash: '0xb' }
}

function refunded(orderId: Hex): EventWithPosition {
  const amounts = { inputAmount: 1n, bondSlashed: 1n }
  const order = { chainId: 1, orderId, user: '0xa', solver: undefined } as const
  return { event: { type: 'Refunded', ...order, ...POSITION, ...amounts }, blockHash: '0xb' }
}

const logsOf = (logs: Partial<DecodedLogs>): DecodedLogs => ({
  events: [],
  bondedSolvers: new Set(),
  cancelledNonces: [],
  changedOrders: [],
  ...logs,
})

it.each<[string, Partial<DecodedLogs>, string[]]>([
  [
    'its order leaves the memory before any listener and any other replica receives its logs',
    {
      events: [settled('0x1', '0xc')],
      bondedSolvers: new Set(['0xe']),
      cancelledNonces: [{ solver: '0xd', nonce: 7n }],
    },
    ['bonds of 0xe 0xc; in memory: 0x2', 'nonces 7; in memory: 0x2', 'publishes 0x1; in memory: 0x2'],
  ],
  [
    'a refund whose solver is not known touches the bonds of all solvers',
    { events: [refunded('0x2')] },
    ['bonds of all; in memory: 0x1', 'publishes 0x2; in memory: 0x1'],
  ],
  [
    'an order that an event without subscribers has changed leaves the memory everywhere',
    { changedOrders: ['0x2'] },
    ['publishes 0x2; in memory: 0x1'],
  ],
  ['nothing changes without logs', {}, []],
])('at a new block, %s', async (_what, logs, expected) => {
  const { onLogs, done } = await startListener()
  onLogs(logsOf(logs))
  expect(done).toEqual(expected)
})

it('all orders leave the memory before any listener receives a reorganisation', async () => {
  const { onReorganisation, done } = await startListener()
  onReorganisation()
  expect(done).toEqual(['reset; in memory: none', 'publishes all; in memory: none'])
})

it('the lag of an event is the age of its block by the clock of the service, once for each event', async () => {
  const { onPublished, clock, metrics } = await startListener()
  const header = {
    number: 5,
    hash: '0xb',
    parentHash: '0xa',
    timestampMs: clock.now(),
    transactions: 1,
  } as const
  await clock.advance(3000)
  const events = ORDERS.map((orderId) => settled(orderId, '0xc'))
  onPublished({ header, isProven: true, ...logsOf({ events }) })
  const { values } = await metrics.eventLagSeconds.get()
  const lagOf = (suffix: string) => values.find(({ metricName }) => metricName?.endsWith(suffix))?.value
  expect([lagOf('_sum'), lagOf('_count')]).toEqual([6, 2])
})
