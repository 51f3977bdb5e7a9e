import { readFileSync } from 'node:fs'
import type { PublicClient } from 'viem'
import { describe, expect, it } from 'vitest'
import type { Endpoint } from '../../../packages/chain/src/rpc-endpoint.js'
import type { Hex } from '../../../packages/protocol/src/values/hex.js'
import type { EventSink } from '../../../src/chain/event-sink.js'
import { type ChainSync, createChainSync } from '../../../src/chain/sync/chain-sync.js'
import type { ChainSyncContext } from '../../../src/chain/sync/context.js'
import { createLog } from '../../../src/telemetry/log.js'
import { createMetrics } from '../../../src/telemetry/metrics.js'
import { deferred } from '../../support/deferred.js'
import { createManualClock } from '../../support/manual-clock.js'
import { EMPTY_TRIE_ROOT } from '../../support/model-chain/bloom.js'
import { only } from '../../support/only.js'

const MINUTE_MS = 60_000
const MINUTES_A_DAY = 24 * 60

const hashOf = (number: number): Hex => `0x${(number + 1).toString(16).padStart(64, '0')}`
const toHex = (number: number): Hex => `0x${number.toString(16)}`

/** A chain without transactions at one endpoint, and the sync that reads it on a manual clock. */
function createSync(blockSeconds: number, answer: () => Promise<void> = async () => {}) {
  const clock = createManualClock()
  const began = clock.monotonic()
  const head = () => 1000 + Math.floor((clock.monotonic() - began) / (blockSeconds * 1000))
  const calls: string[] = []
  const blockAt = (number: number) => ({
    number: toHex(number),
    hash: hashOf(number),
    parentHash: hashOf(number - 1),
    timestamp: toHex(number),
    logsBloom: `0x${'00'.repeat(256)}`,
    receiptsRoot: EMPTY_TRIE_ROOT,
    transactions: [],
  })
  const request = async ({ method, params }: { method: string; params?: readonly unknown[] }) => {
    calls.push(method)
    await answer()
    if (method === 'eth_getBlockByNumber')
      return blockAt(params?.[0] === 'latest' ? head() : Number(params?.[0]))
    if (method === 'eth_getLogs') return []
    throw new Error(`${method} is not expected`)
  }
  const endpoint = { client: only<PublicClient>({ request }) } as Endpoint
  let looks = 0
  const eventSink = only<EventSink>({
    open: async () => undefined,
    isOpen: () => true,
    begin: async () => {},
    append: async () => {},
    async ordersWithoutTerms() {
      looks++
      return []
    },
    knownSolvers: async () => new Map(),
  })
  const ignore = () => {}
  const lastAtLogs: (number | undefined)[] = []
  const context = only<ChainSyncContext>({
    config: {
      chainId: 1,
      settlement: `0x${'5e'.repeat(20)}`,
      pollIntervalMs: 1000,
      confirmations: 0,
      recheckBlocks: 32,
    },
    maxReorgDepth: 256,
    eventSink,
    rpc: { client: endpoint.client, endpoints: [endpoint] },
    verifier: { verify: async () => {}, forget: ignore },
    listener: {
      onLogs: () => void lastAtLogs.push(sync.snapshot.last?.number),
      onReorganisation: ignore,
      onReopened: ignore,
      onLate: ignore,
      onPublished: ignore,
    },
    publisher: { publishSnapshot: ignore, invalidateOrders: ignore },
    metrics: createMetrics(),
    clock,
    log: createLog('silent'),
  })
  const sync: ChainSync = createChainSync(context)
  return {
    snapshot: () => sync.snapshot,
    start: sync.start,
    close: sync.close,
    clock,
    calls,
    lastAtLogs,
    /** How often orders without terms were looked for. */
    looks: () => looks,
    /** The calls of one minute, as a number a day. */
    async callsADay(): Promise<number> {
      const before = calls.length
      await clock.advance(MINUTE_MS)
      return (calls.length - before) * MINUTES_A_DAY
    },
  }
}

async function startSync(blockSeconds: number) {
  const sync = createSync(blockSeconds)
  await sync.start(1000)
  return sync
}

const operations = readFileSync('docs/operations.md', 'utf8')
const rows = [...operations.matchAll(/^\| ([0-9.]+) s \| ([0-9,]+) \|$/gm)].map((row) =>
  row.slice(1).map((text) => Number(text.replaceAll(',', ''))),
)

it('docs/operations.md has the calls of chains with fast and with slow blocks', () => {
  expect(rows.map(([blockSeconds]) => blockSeconds)).toEqual([0.25, 1, 2, 12])
})

it.each(rows)(
  'blocks of %d s on which nothing happens cost %d calls a day',
  async (blockSeconds = 0, calls) => {
    const sync = await startSync(blockSeconds)
    expect(await sync.callsADay()).toBe(calls)
    await sync.close()
  },
)

it('the snapshot has a block before anyone hears of its logs, and its publication after the poll', async () => {
  const sync = await startSync(1)
  await sync.clock.advance(3000)
  expect(sync.lastAtLogs).toEqual([1001, 1002, 1003])
  expect(sync.snapshot()).toMatchObject({ last: { number: 1003 }, published: 1003 })
  await sync.close()
})

it('orders without terms are looked for once a block is known', async () => {
  const sync = createSync(1)
  expect(sync.looks()).toBe(0)
  await sync.start(1000)
  expect(sync.looks()).toBe(1)
  await sync.close()
})

describe('the chain of a new leader', () => {
  it('is syncing until the first poll has ended, so that load balancers keep its replica', async () => {
    const sync = createSync(1)
    expect(sync.snapshot().status).toBe('syncing')
    await sync.start(1000)
    expect(sync.snapshot().status).toBe('ok')
    await sync.close()
  })

  it('is down when that poll has failed', async () => {
    const sync = createSync(1, () => Promise.reject(new Error('away')))
    await sync.start(1000).catch(() => {})
    expect(sync.snapshot().status).toBe('down')
    await sync.close()
  })

  it('is down when that poll has no answer in time', async () => {
    const answer = deferred()
    const sync = createSync(1, () => answer.opened)
    const started = sync.start(1000).catch(() => {})
    await sync.clock.advance(1000)
    await started
    expect(sync.snapshot().status).toBe('down')
    answer.open()
    await sync.close()
  })
})
