import { expect, it } from 'vitest'
import { ChainConfigError } from '../../../packages/chain/src/contract/chain-config-error.js'
import type { TimedHeader } from '../../../packages/protocol/src/node/parse-blocks.js'
import type { Hex } from '../../../packages/protocol/src/values/hex.js'
import type { EventSink } from '../../../src/chain/event-sink.js'
import type { BlockReader } from '../../../src/chain/logs/block-reader.js'
import { createBlockProcessor } from '../../../src/chain/sync/block-processor.js'
import type { ChainConfig } from '../../../src/config/chains.js'
import { createLog } from '../../../src/telemetry/log.js'

const nameOf = (number: number, branch = 'a'): Hex => `0x${branch}${number}`
const headerOf = (number: number, branch = 'a', parentHash = nameOf(number - 1, branch)): TimedHeader => ({
  number,
  hash: nameOf(number, branch),
  parentHash,
  timestampMs: number * 1000,
})
const NO_LOGS = { events: [], bondedSolvers: new Set<never>(), cancelledNonces: [], changedOrders: [] }
const ignore = () => {}

it.each([
  ['at a known block', headerOf(12, 'b', nameOf(11))],
  ['below all known blocks', headerOf(11, 'b')],
])('a fork %s removes nothing when the node serves another chain', async (_where, fork) => {
  const reverted: number[] = []
  const eventSink = {
    open: async () => undefined,
    begin: async () => {},
    append: async () => {},
    eventBlocks: async () => [],
    knownSolvers: async () => new Map(),
    revert: async ({ number }: TimedHeader) => void reverted.push(number),
  } as unknown as EventSink
  const config = { chainId: 1, settlement: '0x5e', confirmations: 0, recheckBlocks: 0, startBlock: 11 }
  const listener = {
    onLogs: ignore,
    onReorganisation: ignore,
    onReopened: ignore,
    onLate: ignore,
    onPublished: ignore,
  }
  const blocks = createBlockProcessor({
    config: config as unknown as ChainConfig,
    maxReorgDepth: 8,
    eventSink,
    onMoved: ignore,
    listener,
    log: createLog('silent'),
  })
  let branch = 'a'
  let isOther = false
  const reader = {
    async verifyChainId() {
      if (isOther) throw new ChainConfigError('RPC_URL_1', 'answers for chain 2, and not for 1')
    },
    header: async (number: number) => headerOf(number, branch),
    blocks: async (headers: readonly TimedHeader[]) =>
      headers.map((header) => ({ header, isProven: true, ...NO_LOGS })),
  } as unknown as BlockReader
  const known = [headerOf(11), headerOf(12), headerOf(13)]
  await blocks.open(reader, headerOf(13))
  blocks.beginPass(false)
  await blocks.add(reader, known)

  branch = 'b'
  isOther = true
  await expect(blocks.add(reader, [fork])).rejects.toThrow(ChainConfigError)
  expect([reverted, blocks.last()]).toEqual([[], headerOf(13)])
  isOther = false
  await blocks.add(reader, [fork])
  expect(reverted).toHaveLength(1)
})
