import { expect, test } from 'vitest'
import { openStore } from '../test/store/event-samples.js'
import { blockWriter } from './block-writer.js'

test('the block writer writes a block with events at each call, and a later writer continues after it', async () => {
  const { store, position } = await openStore(':memory:')
  const first = await blockWriter(store, 7, 3)
  await first.call()
  await first.call()
  const second = await blockWriter(store, 7, 2)
  await second.call()
  const entries = await store.readAfter(0, 100)
  expect(entries.map(({ sequence, event }) => [sequence, event.blockNumber])).toEqual([
    [1, 1],
    [2, 1],
    [3, 1],
    [4, 2],
    [5, 2],
    [6, 2],
    [7, 3],
    [8, 3],
  ])
  expect(new Set(entries.map(({ event }) => event.orderId)).size).toBe(8)
  expect((await position(7))?.headers.map(({ number }) => number)).toEqual([0, 1, 2, 3])
  await expect(first.call()).rejects.toThrow('another process reads chain 7 now')
})
