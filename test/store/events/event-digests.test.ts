import { describe, expect, test } from 'vitest'
import { EVERY_EVENT } from '../../../packages/protocol/src/orders/event.js'
import { BOTH_DATABASES } from '../databases.js'
import { header, newBlocks, openToRead, settled } from './event-samples.js'

describe.each(BOTH_DATABASES)('the digest of an entry %s', (_where, kind) => {
  const create = kind()

  test('is the same when it is written, read alone, read with others and found by a filter', async () => {
    const { store, one } = await openToRead(await create())
    const written = await store.append(one, newBlocks(11, 11, [settled(1, 11, 0), settled(1, 11, 1)]))
    const reverted = await store.revert(one, header(10))
    const all = [...written, ...reverted]
    expect(await store.readAfter(0, 10)).toStrictEqual(all)
    for (const entry of all) expect(await store.readEntry(entry.sequence)).toStrictEqual(entry)
    const filter = { ...EVERY_EVENT, chainIds: new Set([1]) }
    expect(await store.readMatching(filter, { after: 0, through: 4 }, 10)).toStrictEqual(all)
    expect(new Set(all.map(({ digest }) => digest)).size).toBe(4)
  })

  test('differs when the same entry is published at another time or has another block', async () => {
    const digests = []
    for (const [time, branch] of [
      [1, 'a'],
      [2, 'a'],
      [1, 'b'],
    ] as const) {
      const { store, one } = await openToRead(await create(), () => time)
      const [entry] = await store.append(one, newBlocks(11, 11, [settled(1, 11, 0, branch)], branch))
      digests.push(entry?.digest)
    }
    expect(new Set(digests).size).toBe(3)
  })

  test('does not exist for a sequence that the log does not have', async () => {
    const { store } = await openToRead(await create())
    expect(await store.readEntry(1)).toBeUndefined()
  })
})
