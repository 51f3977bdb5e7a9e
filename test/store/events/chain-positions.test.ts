import { describe, expect, test } from 'vitest'
import { FencedError, type FencingToken } from '../../../src/store/events/chain-positions.js'
import { BOTH_DATABASES, DURABLE_DATABASES } from '../databases.js'
import {
  header,
  newBlocks,
  openStore,
  openToRead,
  publishedEntries,
  SETTLEMENT,
  settled,
} from './event-samples.js'

const events = [settled(1, 11, 0), settled(1, 12, 0)]

/** All writes of a leader. */
const writes = (store: Awaited<ReturnType<typeof openStore>>['store'], token: FencingToken) =>
  [
    ['starts again', () => store.begin(token, '0x5e2', header(40, 'b'))],
    ['adds blocks', () => store.append(token, newBlocks(13, 13, []))],
    ['adds events', () => store.append(token, newBlocks(13, 13, [settled(1, 13, 0)]))],
    ['takes events back', () => store.revert(token, header(11))],
    ['takes nothing back', () => store.revert(token, header(12))],
  ] as const

describe.each(BOTH_DATABASES)('the fencing tokens of leaders %s', (_where, kind) => {
  const create = kind()

  test('are counted for each chain separately, and begin at the position of the earlier leader', async () => {
    const { store } = await openStore(await create())
    const first = await store.takeOver(1)
    expect(first).toEqual({ chainId: 1, epoch: 1, position: undefined })
    await store.begin(first, SETTLEMENT, header(10))
    expect(await store.takeOver(2)).toEqual({ chainId: 2, epoch: 1, position: undefined })

    const second = await store.takeOver(1)
    const begun = { settlement: SETTLEMENT, firstBlock: 11, headers: [header(10)] }
    expect(second).toEqual({ chainId: 1, epoch: 2, position: begun })
    await store.append(second, newBlocks(11, 12, events))
    const third = await store.takeOver(1)
    const headers = [header(10), header(11), header(12)]
    expect(third).toEqual({ chainId: 1, epoch: 3, position: { ...begun, headers } })
    await store.revert(third, header(11))
    expect((await store.takeOver(1)).position).toEqual({ ...begun, headers: headers.slice(0, 2) })
  })

  test('reject every write with an earlier token, which changes nothing', async () => {
    const { store, one, two, contents } = await openToRead(await create())
    await store.begin(one, SETTLEMENT, header(10))
    await store.append(one, newBlocks(11, 12, events))
    const next = await store.takeOver(1)
    const before = await contents(1, 2)
    const message = 'another process reads chain 1 now'
    for (const [, write] of writes(store, one))
      await expect(write()).rejects.toThrow(new FencedError(message))
    expect(await contents(1, 2)).toStrictEqual(before)

    const more = [settled(1, 13, 0)]
    expect(await store.append(next, newBlocks(13, 13, more))).toStrictEqual(publishedEntries(3, ...more))
    const elsewhere = [settled(2, 13, 0)]
    expect(await store.append(two, newBlocks(13, 13, elsewhere))).toStrictEqual(
      publishedEntries(4, ...elsewhere),
    )
  })

  test('reject every write with a token that was not issued', async () => {
    const { store, one, contents } = await openToRead(await create())
    const before = await contents(1, 3)
    for (const token of [
      { ...one, epoch: 2 },
      { ...one, chainId: 3 },
    ])
      for (const [, write] of writes(store, token)) await expect(write()).rejects.toThrow(FencedError)
    expect(await contents(1, 3)).toStrictEqual(before)
  })

  test('continue after a write that has failed', async () => {
    const { store, one } = await openToRead(await create())
    await store.append(one, newBlocks(11, 12, events))
    await expect(store.append(one, newBlocks(12, 12, []))).rejects.toThrow(/unique/i)
    const more = [settled(1, 13, 0)]
    expect(await store.append(one, newBlocks(13, 13, more))).toStrictEqual(publishedEntries(3, ...more))
  })
})

describe.each(DURABLE_DATABASES)('the fencing tokens of leaders %s', (_where, kind) => {
  const create = kind()

  test('are counted on when the store is opened again', async () => {
    const on = await create()
    const before = await openToRead(on)
    await before.close()
    const { store } = await openStore(on)
    expect((await store.takeOver(1)).epoch).toBe(2)
    await expect(store.append(before.one, newBlocks(11, 12, events))).rejects.toThrow(FencedError)
  })
})
