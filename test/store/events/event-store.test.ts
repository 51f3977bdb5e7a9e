import { describe, expect, test } from 'vitest'
import type { Deposited, OrderEvent, Refunded } from '../../../packages/protocol/src/orders/event.js'
import { FencedError } from '../../../src/store/events/chain-positions.js'
import { createRandom } from '../../support/random.js'
import { BOTH_DATABASES, DURABLE_DATABASES } from '../databases.js'
import {
  header,
  manySettled,
  newBlocks,
  openStore,
  openToRead,
  pruneAll,
  publishedEntries,
  revertedEntries,
  SETTLEMENT,
  settled,
} from './event-samples.js'

const random = createRandom(20_260_106)

describe.each(BOTH_DATABASES)('an event store %s', (_where, kind) => {
  const create = kind()

  test('publishes events in the given order and counts them over all chains', async () => {
    const { store, one, two, contents } = await openToRead(await create())
    await store.begin(one, SETTLEMENT, header(10))
    await store.begin(two, SETTLEMENT, header(10))
    const first = [settled(1, 11, 0), settled(1, 11, 3), settled(1, 12, 1)]
    const second = [settled(2, 11, 0), settled(2, 11, 3)]
    const third = [settled(1, 13, 0)]
    expect(await store.append(one, newBlocks(11, 12, first))).toStrictEqual(publishedEntries(1, ...first))
    expect(await store.append(two, newBlocks(11, 11, second))).toStrictEqual(publishedEntries(4, ...second))
    expect(await store.append(one, newBlocks(13, 13, third))).toStrictEqual(publishedEntries(6, ...third))

    const { entries, state } = await contents()
    expect(entries).toStrictEqual(publishedEntries(1, ...first, ...second, ...third))
    expect(state).toMatchObject({ lastSequence: 6, prunedSequence: 0 })
  })

  test('publishes missing events after all others, and removes them with their block', async () => {
    const { store, one, contents } = await openToRead(await create())
    await store.begin(one, SETTLEMENT, header(10))
    const [before, missing, later] = [settled(1, 11, 0), settled(1, 11, 3), settled(1, 12, 1)]
    await store.append(one, newBlocks(11, 12, [before, later]))
    expect(await store.appendMissing(one, [before, missing])).toStrictEqual(publishedEntries(3, missing))
    expect(await store.appendMissing(one, [before, missing])).toEqual([])
    expect(await store.appendMissing(one, [])).toEqual([])
    const { entries, positions } = await contents(1)
    expect(entries).toStrictEqual(publishedEntries(1, before, later, missing))
    expect(positions[0]?.headers.at(-1)).toEqual(header(12))

    const removed = await store.revert(one, header(10))
    expect(removed.map(({ event }) => event.orderId)).toEqual(
      [missing, later, before].map(({ event }) => event.orderId),
    )
    expect(await store.appendMissing(one, [missing])).toHaveLength(1)
  })

  test('keeps every field of an event of each type, and reverts it without its details', async () => {
    const { store } = await openStore(await create())
    const max = 2n ** 256n - 1n
    let nextIndex = 0
    const base = () => ({
      chainId: Number.MAX_SAFE_INTEGER,
      orderId: random.hex(32),
      user: random.hex(20),
      solver: random.hex(20),
      blockNumber: Number.MAX_SAFE_INTEGER - 1,
      logIndex: nextIndex++,
      transactionHash: random.hex(32),
      blockTime: Number.MAX_SAFE_INTEGER - 2,
    })
    const deposited = (inputAmount: bigint, outputAmount: bigint): Deposited => ({
      ...base(),
      type: 'Deposited',
      inputToken: random.hex(20),
      inputAmount,
      outputToken: random.hex(20),
      outputAmount,
      fillDeadline: 2 ** 40 + 1,
    })
    const refunded = (inputAmount: bigint, bondSlashed: bigint): Refunded => ({
      ...base(),
      type: 'Refunded',
      inputAmount,
      bondSlashed,
    })
    const amounts = [max, 0n, 1n, 2n ** 53n + 1n, random.uint256()]
    const events: OrderEvent[] = [
      ...amounts.flatMap((amount) => [deposited(amount, max - amount), refunded(max - amount, amount)]),
      { ...base(), type: 'Settled' },
      { ...base(), type: 'Settled', solver: undefined },
      { ...deposited(1n, 2n), solver: undefined },
      { ...refunded(1n, 2n), solver: undefined },
    ]
    const source = events.map((event) => ({ event, blockHash: random.hex(32) }))
    const token = await store.takeOver(Number.MAX_SAFE_INTEGER)
    const entries = await store.append(token, newBlocks(11, 11, source))
    expect(entries).toStrictEqual(publishedEntries(1, ...source))
    expect(await store.readAfter(0, 100)).toStrictEqual(entries)
    const reverted = await store.revert(token, header(10))
    const detailed = [
      'inputToken',
      'inputAmount',
      'outputToken',
      'outputAmount',
      'fillDeadline',
      'bondSlashed',
    ]
    const expected = events.toReversed().map(({ type, ...event }) => {
      const base = Object.entries(event).filter(([name]) => !detailed.includes(name))
      return { ...Object.fromEntries(base), type: 'Reverted', event: type }
    })
    expect(reverted.map(({ event }) => event)).toStrictEqual(expected)
    expect(await store.readAfter(events.length, 100)).toStrictEqual(reverted)
  })

  test('removes the headers before the one to keep from, of that chain alone', async () => {
    const { store, one, two, contents, position } = await openToRead(await create())
    for (const token of [one, two]) {
      await store.begin(token, SETTLEMENT, header(10))
      await store.append(token, newBlocks(11, 12, [settled(token.chainId, 11, 0)]))
    }
    await store.append(one, { ...newBlocks(13, 14, []), keepFrom: 12 })
    expect((await contents(1, 2)).positions).toMatchObject([
      { firstBlock: 11, headers: [header(12), header(13), header(14)] },
      { firstBlock: 11, headers: [header(10), header(11), header(12)] },
    ])
    await store.append(one, { ...newBlocks(15, 15, []), keepFrom: 15 })
    expect((await position(1))?.headers).toEqual([header(15)])
    expect(await store.readAfter(0, 100)).toHaveLength(2)
  })

  test('begins a chain again without its headers and its contract, and changes nothing else', async () => {
    const { store, one, two, contents, position } = await openToRead(await create())
    for (const token of [one, two]) {
      await store.begin(token, SETTLEMENT, header(10))
      const events = [settled(token.chainId, 11, 0), settled(token.chainId, 12, 0)]
      await store.append(token, newBlocks(11, 12, events))
    }
    const before = await contents(2)
    await store.begin(one, '0x5e2', header(40, 'b'))
    expect(await contents(2)).toEqual(before)
    const begun = { settlement: '0x5e2', firstBlock: 41, headers: [header(40, 'b')] }
    expect(await position(1)).toEqual(begun)

    const next = [settled(1, 41, 0)]
    expect(await store.append(one, newBlocks(41, 41, next, 'b'))).toStrictEqual(publishedEntries(5, ...next))
  })

  test('counts the leaders of each chain, and gives each the position of the earlier one', async () => {
    const { store } = await openStore(await create())
    const first = await store.takeOver(1)
    expect(first).toEqual({ chainId: 1, epoch: 1, position: undefined })
    await store.begin(first, SETTLEMENT, header(10))
    expect(await store.takeOver(2)).toEqual({ chainId: 2, epoch: 1, position: undefined })

    const second = await store.takeOver(1)
    const begun = { settlement: SETTLEMENT, firstBlock: 11, headers: [header(10)] }
    expect(second).toEqual({ chainId: 1, epoch: 2, position: begun })
    await store.append(second, newBlocks(11, 12, [settled(1, 11, 0)]))
    const headers = [header(10), header(11), header(12)]
    expect(await store.takeOver(1)).toEqual({ chainId: 1, epoch: 3, position: { ...begun, headers } })
  })

  test.each([500, 501, 3001])('publishes and reverts %d events, more than a statement has', async (count) => {
    const { store, one } = await openToRead(await create())
    const events = manySettled(1, 11, count)
    const published = publishedEntries(1, ...events)
    expect(await store.append(one, newBlocks(11, 11, events))).toStrictEqual(published)
    const reverted = revertedEntries(count + 1, ...events.toReversed())
    expect(await store.revert(one, header(10))).toStrictEqual(reverted)
    expect(await store.readAfter(0, 10_000)).toStrictEqual([...published, ...reverted])
  })
})

describe.each(DURABLE_DATABASES)('an event store %s that is opened again', (_where, kind) => {
  const create = kind()

  test('has all that it had, and counts its entries and leaders on', async () => {
    const on = await create()
    let ms = 100
    const first = await openToRead(on, () => ms)
    const [kept, reverted] = [settled(1, 11, 0), settled(1, 12, 0)]
    await first.store.append(first.one, newBlocks(11, 11, [kept]))
    ms = 200
    await first.store.append(first.one, newBlocks(12, 12, [reverted]))
    await first.store.revert(first.one, header(11))
    expect(await pruneAll(first.store, ms)).toBe(1)
    const before = await first.contents(1, 2)
    await first.close()

    const { store, contents } = await openStore(on)
    expect(await contents(1, 2)).toStrictEqual(before)
    const next = await store.takeOver(1)
    expect(next.epoch).toBe(2)
    await expect(store.append(first.one, newBlocks(12, 12, []))).rejects.toThrow(FencedError)
    expect(await store.append(next, newBlocks(12, 12, [reverted]))).toStrictEqual(
      publishedEntries(4, reverted),
    )
    expect(await store.revert(next, header(10))).toStrictEqual(revertedEntries(5, reverted, kept))
  })
})
