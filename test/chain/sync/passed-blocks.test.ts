import { expect, it } from 'vitest'
import type { Hex } from '../../../packages/protocol/src/values/hex.js'
import type { BlockReader } from '../../../src/chain/logs/block-reader.js'
import { isPassedOver, type LocalChain, tipOf } from '../../../src/chain/sync/local-chain.js'
import { createPassedBlocks } from '../../../src/chain/sync/passed-blocks.js'

const DEPTH = 10

const headerOf = (number: number) => ({
  number,
  hash: `0x${number}` as Hex,
  parentHash: `0x${number - 1}` as Hex,
  timestampMs: number * 1000,
})

/** A local chain that ends at block 100, and a node whose answers the test sets. */
function startPassing() {
  const passed = createPassedBlocks(DEPTH)
  const asked: string[] = []
  const node = { withLogs: [] as number[], parentOf101: '0x100' as Hex, isRefusing: false }
  let local: LocalChain = [headerOf(100)]
  const reader = {
    async header(number: number) {
      return { ...headerOf(number), ...(number === 101 && { parentHash: node.parentOf101 }) }
    },
    async blocksWithLogs(from: number, to: number) {
      asked.push(`${from}-${to}`)
      if (node.isRefusing) throw new Error('at most 5 blocks')
      return node.withLogs.filter((number) => number >= from && number <= to)
    },
  } as unknown as BlockReader
  return {
    ...passed,
    node,
    asked,
    /** Asks for the blocks before a head, and adds them with the head. @returns their numbers, and those to read again */
    async ask(head: number) {
      const { blocks, late } = await passed.ask(reader, local, headerOf(head))
      const headers = blocks.map(({ header }) => header)
      if (headers.length > 0) {
        expect(headers.at(-1)?.hash).toBe(headerOf(head).parentHash)
        expect(headers.slice(0, -1).every(isPassedOver)).toBe(true)
        expect(headers[0]?.parentHash).toBe(tipOf(local).hash)
        local = [...local, ...headers, headerOf(head)]
      }
      return { added: headers.map(({ number }) => number), late: late.map(({ number }) => number) }
    },
  }
}

it('blocks without logs are passed over, and asked for again with the next ones until they are deep enough', async () => {
  const { ask, asked } = startPassing()
  expect(await ask(105)).toEqual({ added: [101, 102, 103, 104], late: [] })
  expect(await ask(110)).toEqual({ added: [106, 107, 108, 109], late: [] })
  expect(await ask(115)).toEqual({ added: [111, 112, 113, 114], late: [] })
  expect(await ask(125)).toMatchObject({ late: [] })
  expect(await ask(130)).toMatchObject({ late: [] })
  // The blocks 111 to 114 are deep at 125. They are asked for at that time for the last time, the second one.
  expect(asked).toEqual(['101-104', '101-109', '101-114', '106-124', '116-129'])
})

it('blocks that are deep at once are asked for twice', async () => {
  const { ask, asked, node } = startPassing()
  expect((await ask(150)).added).toHaveLength(49)
  node.withLogs = [102]
  expect((await ask(155)).late).toEqual([102])
  expect(asked).toEqual(['101-149', '101-154'])
})

it('blocks with logs are not passed over, and are read one by one', async () => {
  const { ask, node } = startPassing()
  node.withLogs = [103]
  expect(await ask(105)).toEqual({ added: [], late: [] })
})

it('a block whose logs come late is read a second time, once', async () => {
  const { ask, node } = startPassing()
  await ask(105)
  node.withLogs = [102, 104]
  expect(await ask(110)).toEqual({ added: [106, 107, 108, 109], late: [102, 104] })
  expect((await ask(115)).late).toEqual([])
})

it('blocks that do not follow the known chain are not passed over', async () => {
  const { ask, node } = startPassing()
  node.parentOf101 = '0xf0'
  expect(await ask(105)).toEqual({ added: [], late: [] })
})

it('a node that refuses a range has its blocks read one by one, until it gives ranges', async () => {
  const { ask, node } = startPassing()
  node.isRefusing = true
  expect(await ask(105)).toEqual({ added: [], late: [] })
  node.isRefusing = false
  expect((await ask(105)).added).toEqual([101, 102, 103, 104])
})
