import { pino } from 'pino'
import { expect, onTestFinished, test } from 'vitest'
import { ServiceError } from '../../../packages/protocol/src/errors.js'
import type { SignedQuote } from '../../../packages/protocol/src/quotes/quote.js'
import type { Address, Hex } from '../../../packages/protocol/src/values/hex.js'
import type { Chain, ChainStatus } from '../../../src/chain/chain.js'
import type { ClusterBus, TopicListener } from '../../../src/cluster/cluster.js'
import { createNonceRetention } from '../../../src/solvers/nonces/nonce-retention.js'
import { createUsedNonces, followCancellations } from '../../../src/solvers/nonces/used-nonces.js'
import type { OfferNonce, OfferNonceStore } from '../../../src/store/solvers/offer-nonce-store.js'
import { createMetrics } from '../../../src/telemetry/metrics.js'
import { createManualClock } from '../../support/manual-clock.js'
import { only } from '../../support/only.js'

const SOLVER: Address = '0x0a'
const KEY = { chainId: 1, address: SOLVER }
const FILL_DEADLINE = 1_800_000_000
const MAX_ROWS = 12_000

/** A table and orders in memory, as the databases keep them, and the replicas that share them. */
function openTable() {
  const rows: (OfferNonce & { used: boolean })[] = []
  const orders = new Set<Hex | undefined>()
  const listeners: TopicListener[] = []
  const database = { isUp: true }
  const clock = createManualClock()
  function assertUp(): void {
    if (!database.isUp) throw new ServiceError('DATABASE_UNAVAILABLE', 'down')
  }
  const store: OfferNonceStore = {
    async save(nonces) {
      assertUp()
      for (const nonce of nonces) rows.push({ ...nonce, used: nonce.orderId === undefined })
    },
    async markOrders(_chainId, orderIds) {
      assertUp()
      const found = rows.filter(
        ({ orderId, used }) =>
          orderId !== undefined && (orderIds?.includes(orderId) ?? true) && used !== orders.has(orderId),
      )
      for (const row of found) row.used = orders.has(row.orderId)
      return found.length > 0
    },
    async readOrders(_chainId, orderIds) {
      return rows
        .filter(({ orderId }) => orderId !== undefined && orderIds.includes(orderId))
        .map(({ solver, nonce }) => {
          return { solver, nonce, isUsed: rows.some((row) => row.used && row.nonce === nonce) }
        })
    },
    async readUsed() {
      assertUp()
      return new Map([[SOLVER, rows.filter(({ used }) => used).map(({ nonce }) => nonce)]])
    },
    pruneSome: async () => false,
    async trim() {
      assertUp()
      const dropped = Math.max(0, rows.length - MAX_ROWS)
      rows.splice(0, dropped)
      return { bytes: rows.length, dropped }
    },
  }
  const metrics = createMetrics()
  async function openReplica() {
    let own: TopicListener | undefined
    const cluster: ClusterBus = {
      listen(_topic, listener) {
        own = listener
        listeners.push(listener)
      },
      publish(_topic, text) {
        for (const listener of listeners) if (listener !== own) listener.onMessage(text)
      },
    }
    const replica = createUsedNonces(
      only({
        config: { chains: [{ chainId: 1 }] },
        instance: { stores: { offerNonces: store }, cluster },
        metrics,
        clock,
        log: pino({ level: 'silent' }),
      }),
    )
    onTestFinished(replica.close)
    await replica.load()
    return replica
  }
  return { rows, store, orders, listeners, database, clock, metrics, openReplica }
}

function offer(orderId: Hex, nonce: bigint): SignedQuote {
  return only<SignedQuote>({ orderId, quote: { solver: SOLVER, nonce, fillDeadline: FILL_DEADLINE } })
}

test('an event of an order makes the nonce of its offer used at all replicas, and no other one', async () => {
  const { orders, clock, rows, openReplica } = openTable()
  const replicas = [await openReplica(), await openReplica(), await openReplica()] as const
  replicas[0].recordOffer(1, offer('0x01', 1n))
  replicas[0].recordOffer(1, offer('0x02', 2n))
  // The event comes before the offer is written. Replicas that hear of it first find nothing.
  orders.add('0x01')
  for (const replica of replicas.toReversed()) replica.onEvent({ chainId: 1, orderId: '0x01' })
  await clock.advance(0)
  for (const { isUsed } of replicas)
    expect([1n, 2n, 3n].map((nonce) => isUsed(KEY, nonce))).toEqual([true, false, false])
  expect(rows.map(({ until }) => until)).toEqual(Array(2).fill(FILL_DEADLINE))
  const restarted = await openReplica()
  expect([1n, 2n].map((nonce) => restarted.isUsed(KEY, nonce))).toEqual([true, false])
})

test('of more than 10,000 used nonces of a solver, the oldest is forgotten', async () => {
  const { openReplica } = openTable()
  const { setUsed, isUsed } = await openReplica()
  const other = { ...KEY, address: '0x0b' } as const
  setUsed(other, [0n])
  setUsed(
    KEY,
    Array.from({ length: 10_001 }, (_, nonce) => BigInt(nonce)),
  )
  expect([isUsed(KEY, 0n), isUsed(KEY, 1n), isUsed(KEY, 10_000n)]).toEqual([false, true, true])
  expect(isUsed(other, 0n)).toBe(true)
})

test('an event that a reorganisation removes gives the nonce back', async () => {
  const { orders, clock, openReplica } = openTable()
  const replicas = [await openReplica(), await openReplica()] as const
  replicas[1].recordOffer(1, offer('0x01', 1n))
  for (const isDeposited of [true, false]) {
    if (isDeposited) orders.add('0x01')
    else orders.delete('0x01')
    for (const replica of replicas) replica.onEvent({ chainId: 1, orderId: '0x01' })
    await clock.advance(0)
    for (const { isUsed } of replicas) expect(isUsed(KEY, 1n)).toBe(isDeposited)
  }
})

test('offers are written together, one second after the first', async () => {
  const { rows, clock, openReplica } = openTable()
  const replica = await openReplica()
  replica.recordOffer(1, offer('0x01', 1n))
  await clock.advance(999)
  replica.recordOffer(1, offer('0x02', 2n))
  expect(rows).toEqual([])
  await clock.advance(1)
  expect(rows.map(({ nonce }) => nonce)).toEqual([1n, 2n])
})

test('while the database is away, events wait, and are read when it is back', async () => {
  const { orders, database, clock, openReplica } = openTable()
  const replica = await openReplica()
  replica.recordOffer(1, offer('0x01', 1n))
  database.isUp = false
  orders.add('0x01')
  replica.onEvent({ chainId: 1, orderId: '0x01' })
  await clock.advance(5000)
  expect(replica.isUsed(KEY, 1n)).toBe(false)
  database.isUp = true
  await clock.advance(1000)
  expect(replica.isUsed(KEY, 1n)).toBe(true)
})

test('a cancellation counts at once at all replicas, for registered solvers only, and over a restart', async () => {
  const { clock, openReplica } = openTable()
  const replicas = [await openReplica(), await openReplica()] as const
  let cancel = (_nonces: readonly { solver: Address; nonce: bigint }[]) => {}
  const chain = {
    chainId: 1,
    addListener: ({ onNoncesCancelled = cancel }) => {
      cancel = onNoncesCancelled
    },
  }
  followCancellations(only(chain), () => [{ address: SOLVER }], replicas[0])
  cancel([
    { solver: SOLVER, nonce: 7n },
    { solver: '0x0b', nonce: 8n },
  ])
  expect(replicas[0].isUsed(KEY, 7n)).toBe(true)
  await clock.advance(0)
  for (const { isUsed } of replicas) {
    expect(isUsed(KEY, 7n)).toBe(true)
    expect(isUsed({ ...KEY, address: '0x0b' }, 8n)).toBe(false)
  }
  await clock.advance(1000)
  expect((await openReplica()).isUsed(KEY, 7n)).toBe(true)
})

test('a flood of quotes keeps the newest offers, and those that went are counted, also when the database was away', async () => {
  const { rows, store, database, clock, metrics, openReplica } = openTable()
  const replica = await openReplica()
  const remove = createNonceRetention(store, [], 10, metrics)
  const flood = async (first: number) => {
    for (let index = first; index < first + 9999; index++)
      replica.recordOffer(1, offer('0x01', BigInt(index)))
    await clock.advance(1000)
  }
  await flood(0)
  expect(await remove()).toBe(false)
  expect(rows).toHaveLength(9999)
  database.isUp = false
  await flood(9999)
  database.isUp = true
  await clock.advance(1000)
  expect(await remove()).toBe(false)
  expect(rows).toHaveLength(MAX_ROWS)
  expect(rows.at(-1)?.nonce).toBe(2n * 9999n - 1n)
  const { values } = await metrics.offerNonces.get()
  expect(values.map(({ labels, value }) => [labels.result, value])).toEqual([
    ['written', 2 * 9999],
    ['dropped', 2 * 9999 - MAX_ROWS],
  ])
  expect((await metrics.tableBytes.get()).values).toEqual([
    { labels: { table: 'offer_nonces' }, value: MAX_ROWS },
  ])
})

test('nonces are removed by the time of a block of their chain that no reorganisation replaces, however wrong the clock is', async () => {
  const pruned: unknown[] = []
  const pruneSome = async (...parameters: unknown[]) => pruned.push(parameters) < 0
  const head = { number: 100, timeMs: 1_700_000_000_999, published: 90 }
  const status = () => ({ headBlock: head.number, eventBlock: head.published }) as ChainStatus
  const silent = { chainId: 2, headTimeMs: () => undefined, status: () => ({}) as ChainStatus }
  const removeEnded = createNonceRetention(
    only<OfferNonceStore>({ pruneSome, trim: async () => ({ bytes: 0, dropped: 0 }) }),
    [{ chainId: 1, headTimeMs: () => head.timeMs, status }, silent].map((chain) => only<Chain>(chain)),
    10,
    createMetrics(),
  )
  async function at(next: Partial<typeof head>): Promise<unknown> {
    Object.assign(head, next)
    expect(await removeEnded()).toBe(false)
    return pruned.pop()
  }
  expect(await at({})).toBeUndefined()
  // The head is far, but its events are not read yet.
  expect(await at({ number: 115, timeMs: 1_700_000_150_000, published: 109 })).toBeUndefined()
  expect(await at({ published: 110 })).toEqual([1, 1_700_000_000])
  expect(await at({ number: 130, published: 124 })).toEqual([1, 1_700_000_000])
  expect(await at({ published: 125 })).toEqual([1, 1_700_000_150])
})
