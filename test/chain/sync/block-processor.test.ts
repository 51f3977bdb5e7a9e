import { expect, it } from 'vitest'
import { ChainConfigError } from '../../../packages/chain/src/contract/chain-config-error.js'
import type { TimedHeader } from '../../../packages/protocol/src/node/parse-blocks.js'
import type { BlockHeader, NewBlocks } from '../../../packages/protocol/src/orders/block.js'
import type { Hex } from '../../../packages/protocol/src/values/hex.js'
import type { EventSink } from '../../../src/chain/event-sink.js'
import type { BlockReader } from '../../../src/chain/logs/block-reader.js'
import { createBlockProcessor } from '../../../src/chain/sync/block-processor.js'
import type { ChainSyncContext } from '../../../src/chain/sync/context.js'
import { createHeadSync } from '../../../src/chain/sync/head-sync.js'
import { createLog } from '../../../src/telemetry/log.js'
import { only } from '../../support/only.js'

const nameOf = (number: number, branch = 'a'): Hex => `0x${branch}${number}`
const headerOf = (number: number, branch = 'a', parentHash = nameOf(number - 1, branch)): TimedHeader => ({
  number,
  hash: nameOf(number, branch),
  parentHash,
  timestampMs: number * 1000,
})
const NO_LOGS = { events: [], bondedSolvers: new Set<never>(), cancelledNonces: [], changedOrders: [] }
const ignore = () => {}
const MAX_REORG_DEPTH = 8

/** The processor of a chain with the blocks 11 to 13, and the node that it reads. */
async function startProcessor({ confirmations = 0 } = {}) {
  const reverted: number[] = []
  const published: Hex[] = []
  let stored: readonly BlockHeader[] = []
  const eventSink = only<EventSink>({
    isOpen: () => true,
    open: async () =>
      stored.length === 0 ? undefined : { settlement: config.settlement, firstBlock: 11, headers: stored },
    begin: async () => {},
    async append({ headers, keepFrom }: NewBlocks) {
      published.push(...headers.map(({ hash }) => hash))
      stored = [...stored, ...headers].filter(({ number }) => number >= keepFrom)
    },
    eventBlocks: async () => [],
    knownSolvers: async () => new Map(),
    revert: async ({ number }: TimedHeader) => void reverted.push(number),
  })
  const config = { chainId: 1, settlement: '0x5e', confirmations, recheckBlocks: 0, startBlock: 11 }
  const listener = {
    onLogs: ignore,
    onReorganisation: ignore,
    onReopened: ignore,
    onLate: ignore,
    onPublished: ignore,
  }
  const parts = { config, maxReorgDepth: MAX_REORG_DEPTH, eventSink, listener, log: createLog('silent') }
  const context = only<ChainSyncContext>(parts)
  const blocks = createBlockProcessor(context, ignore)
  const node = { branch: 'a', isOther: false, reads: 0 }
  const reader = only<BlockReader>({
    async verifyChainId() {
      if (node.isOther) throw new ChainConfigError('RPC_URL_1', 'answers for chain 2, and not for 1')
    },
    header: async (number: number) => headerOf(number, node.branch),
    head: async () => headerOf(12, node.branch),
    async blocks(headers: readonly TimedHeader[]) {
      node.reads++
      return headers.map((header) => ({ header, isProven: false, ...NO_LOGS }))
    },
  })
  await blocks.open(reader, headerOf(13))
  blocks.beginPass()
  await blocks.add(reader, [headerOf(11), headerOf(12), headerOf(13)])
  node.branch = 'b'
  /** The processor of a replica that leads next. */
  async function restart() {
    const next = createBlockProcessor(context, ignore)
    await next.open(reader, headerOf(13))
    return next
  }
  return { blocks, restart, headSync: createHeadSync(context, blocks), reader, reverted, published, node }
}

it.each([
  ['at a known block', headerOf(12, 'b', nameOf(11)), 11],
  ['below all known blocks', headerOf(11, 'b'), 10],
])('a fork %s removes nothing when the node serves another chain', async (_where, fork, root) => {
  const { blocks, reader, reverted, node } = await startProcessor()
  node.isOther = true
  await expect(blocks.add(reader, [fork])).rejects.toThrow(ChainConfigError)
  expect([reverted, blocks.last()]).toEqual([[], headerOf(13)])
  node.isOther = false
  await blocks.add(reader, [fork])
  expect(reverted).toEqual([root])
})

it.each([
  [1, 19],
  [MAX_REORG_DEPTH, 12],
  [MAX_REORG_DEPTH + 1, 10],
])(
  'a reorganisation of %i blocks removes those after block %i, also after a restart',
  async (depth, root) => {
    const { blocks, restart, reader, reverted } = await startProcessor()
    for (let number = 14; number <= 20; number++) await blocks.add(reader, [headerOf(number)])
    const first = 21 - depth
    for (const processor of [await restart(), blocks])
      await processor.add(reader, [headerOf(first, 'b', nameOf(first - 1))])
    expect(reverted).toEqual([root, root])
  },
)

it('blocks that leave the chain before they are confirmed are not published', async () => {
  const { blocks, reader, published } = await startProcessor({ confirmations: 2 })
  await blocks.add(reader, [headerOf(13, 'b', nameOf(12))])
  await blocks.add(reader, [headerOf(14, 'b'), headerOf(15, 'b')])
  expect(published).toEqual([nameOf(11), nameOf(12), nameOf(13, 'b')])
})

it('a lower head on another fork is followed when it has come three times in a row', async () => {
  const { headSync, reader, reverted } = await startProcessor()
  const run = { signal: new AbortController().signal, onProgress: ignore, onBackfill: ignore }
  const follow = (number: number, ...of: [branch?: string, parentHash?: Hex]) =>
    headSync.follow(reader, headerOf(number, ...of), run)
  const lower = () => follow(12, 'b', nameOf(11))
  expect([await lower(), await lower(), await follow(13), await lower(), await lower()]).toEqual([
    'lower',
    'lower',
    'followed',
    'lower',
    'lower',
  ])
  expect(reverted).toEqual([])
  expect(await lower()).toBe('followed')
  expect(reverted).toEqual([11])
})

it('no block is read a second time where that is turned off', async () => {
  const { blocks, reader, node } = await startProcessor()
  await blocks.recheck(reader, 40)
  expect(node.reads).toBe(1)
})
