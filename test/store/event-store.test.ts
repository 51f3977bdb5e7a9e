import { describe, expect, test } from 'vitest'
import type { Deposited, OrderEvent, Refunded } from '../../src/domain/event.js'
import { createRandom } from '../random.js'
import {
  announced,
  contents,
  header,
  manySettled,
  newBlocks,
  openStore,
  SETTLEMENT,
  settled,
} from './event-samples.js'
import { temporaryFile } from './temporary-file.js'

const random = createRandom(20_260_106)

describe.each([
  ['in memory', () => ':memory:'],
  ['in a file', temporaryFile],
])('an event store %s', (_where, path) => {
  test('is empty at first and knows no chain', async () => {
    const { store } = await openStore(path())
    const { state, ...rest } = await contents(store, 1)
    expect(state).toEqual({ logId: expect.any(String), lastSequence: 0, prunedSequence: 0 })
    expect(rest).toEqual({ entries: [], positions: [undefined] })
  })

  test('begins a chain behind a block', async () => {
    const { store } = await openStore(path())
    await store.begin(1, SETTLEMENT, header(10))
    await store.begin(2, '0x5e2', header(0))
    expect((await contents(store, 1, 2, 3)).positions).toEqual([
      { settlement: SETTLEMENT, firstBlock: 11, headers: [header(10)] },
      { settlement: '0x5e2', firstBlock: 1, headers: [header(0)] },
      undefined,
    ])
  })

  test('announces events in the order given and counts them over all chains', async () => {
    const { store } = await openStore(path())
    await store.begin(1, SETTLEMENT, header(10))
    await store.begin(2, SETTLEMENT, header(10))
    const first = [settled(1, 11, 0), settled(1, 11, 3), settled(1, 12, 1)]
    const second = [settled(2, 11, 0), settled(2, 11, 3)]
    const third = [settled(1, 13, 0)]
    expect(await store.append(1, newBlocks(11, 12, first))).toStrictEqual(announced(1, ...first))
    expect(await store.append(2, newBlocks(11, 11, second))).toStrictEqual(announced(4, ...second))
    expect(await store.append(1, newBlocks(13, 13, third))).toStrictEqual(announced(6, ...third))

    const { entries, state } = await contents(store)
    expect(entries).toStrictEqual(announced(1, ...first, ...second, ...third))
    expect(state).toMatchObject({ lastSequence: 6, prunedSequence: 0 })
  })

  test('keeps every field of an event of each type', async () => {
    const { store } = await openStore(path())
    const max = 2n ** 256n - 1n
    const base = () => ({
      chainId: Number.MAX_SAFE_INTEGER,
      orderId: random.hex(32),
      user: random.hex(20),
      solver: random.hex(20),
      blockNumber: Number.MAX_SAFE_INTEGER - 1,
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
    const placed = events.map((event, logIndex) => ({ event, blockHash: random.hex(32), logIndex }))
    const chainId = Number.MAX_SAFE_INTEGER
    const told = await store.append(chainId, newBlocks(11, 11, placed))
    expect(told).toStrictEqual(announced(1, ...placed))
    expect(await store.readAfter(0, 100)).toStrictEqual(told)
  })

  test('moves a position with its events, on its chain alone, also when there are none', async () => {
    const { store } = await openStore(path())
    for (const chainId of [1, 2]) await store.begin(chainId, SETTLEMENT, header(10))
    await store.append(1, newBlocks(11, 12, [settled(1, 11, 0)]))
    expect(await store.append(1, newBlocks(13, 13, []))).toEqual([])
    expect((await contents(store, 1, 2)).positions.map((position) => position?.headers)).toEqual([
      [header(10), header(11), header(12), header(13)],
      [header(10)],
    ])
  })

  test('forgets the headers before the one to keep from, of that chain alone', async () => {
    const { store } = await openStore(path())
    for (const chainId of [1, 2]) {
      await store.begin(chainId, SETTLEMENT, header(10))
      await store.append(chainId, newBlocks(11, 12, [settled(chainId, 11, 0)]))
    }
    await store.append(1, { ...newBlocks(13, 14, []), keepFrom: 12 })
    expect((await contents(store, 1, 2)).positions).toMatchObject([
      { firstBlock: 11, headers: [header(12), header(13), header(14)] },
      { firstBlock: 11, headers: [header(10), header(11), header(12)] },
    ])
    await store.append(1, { ...newBlocks(15, 15, []), keepFrom: 15 })
    expect((await store.readPosition(1))?.headers).toEqual([header(15)])
    expect(await store.readAfter(0, 100)).toHaveLength(2)
  })
})

describe('beginning a chain anew', () => {
  test('forgets its headers and its contract, and nothing of the log or of other chains', async () => {
    const { store } = await openStore(':memory:')
    for (const chainId of [1, 2]) {
      await store.begin(chainId, SETTLEMENT, header(10))
      await store.append(chainId, newBlocks(11, 12, [settled(chainId, 11, 0), settled(chainId, 12, 0)]))
    }
    const before = await contents(store, 2)
    await store.begin(1, '0x5e2', header(40, 'b'))
    expect(await contents(store, 2)).toEqual(before)
    const position = { settlement: '0x5e2', firstBlock: 41, headers: [header(40, 'b')] }
    expect(await store.readPosition(1)).toEqual(position)

    const next = [settled(1, 41, 0)]
    expect(await store.append(1, newBlocks(41, 41, next, 'b'))).toStrictEqual(announced(5, ...next))
  })

  test('behind a block known before works', async () => {
    const { store } = await openStore(':memory:')
    await store.begin(1, SETTLEMENT, header(10))
    await store.append(1, newBlocks(11, 13, []))
    await store.begin(1, SETTLEMENT, header(12))
    expect(await store.readPosition(1)).toMatchObject({ firstBlock: 13, headers: [header(12)] })
  })
})

describe('reading behind a sequence', () => {
  test('goes page by page to the end', async () => {
    const { store } = await openStore(':memory:')
    const events = manySettled(1, 11, 7)
    await store.append(1, newBlocks(11, 11, events))
    const all = announced(1, ...events)
    expect(await store.readAfter(0, 3)).toStrictEqual(all.slice(0, 3))
    expect(await store.readAfter(3, 3)).toStrictEqual(all.slice(3, 6))
    expect(await store.readAfter(6, 3)).toStrictEqual(all.slice(6))
    expect(await store.readAfter(6, 1)).toStrictEqual(all.slice(6))
    expect(await store.readAfter(7, 3)).toEqual([])
    expect(await store.readAfter(1000, 3)).toEqual([])
  })
})

describe('an append of more than fits into one statement', () => {
  test.each([499, 500, 501, 1000, 3001])('announces all %d events', async (count) => {
    const { store } = await openStore(':memory:')
    const events = manySettled(1, 11, count)
    expect(await store.append(1, newBlocks(11, 11, events))).toStrictEqual(announced(1, ...events))
    expect(await store.readAfter(0, 10_000)).toStrictEqual(announced(1, ...events))
  })

  test('shows nothing of itself before all of it is there, and lets no other write come between', async () => {
    const { store } = await openStore(temporaryFile())
    const [first, second] = [manySettled(1, 11, 1200), manySettled(2, 11, 1200)]
    const [, , during, told] = await Promise.all([
      store.begin(1, SETTLEMENT, header(10)),
      store.append(1, newBlocks(11, 11, first)),
      store.readAfter(0, 10_000),
      store.append(2, newBlocks(11, 11, second)),
    ])
    expect([0, 1200]).toContain(during.length)
    expect(told).toStrictEqual(announced(1201, ...second))
    expect(await store.readAfter(0, 10_000)).toStrictEqual(announced(1, ...first, ...second))
  })
})

describe('a failed append leaves everything as it was:', () => {
  async function prepare(path: string) {
    const { store, close } = await openStore(path)
    await store.begin(1, SETTLEMENT, header(10))
    await store.append(1, newBlocks(11, 12, [settled(1, 11, 0), settled(1, 12, 0)]))
    return { store, close, before: await contents(store, 1) }
  }
  const twice = (count: number) => [...manySettled(1, 13, count), settled(1, 13, count - 1)]
  const STANDS = 'UNIQUE constraint failed: events.chain_id, events.block_number, events.log_index'

  test.each([
    ['an event announced before', [settled(1, 13, 0), settled(1, 12, 0)], STANDS],
    ['an event that comes twice', twice(1), STANDS],
    ['an event that comes twice, in the second statement', twice(501), STANDS],
    ['an event that comes twice, in the last of many statements', twice(1700), STANDS],
  ])('%s', async (_what, events, message) => {
    const { store, before } = await prepare(':memory:')
    const failing = store.append(1, { ...newBlocks(13, 14, events), keepFrom: 12 })
    await expect(failing).rejects.toThrow(message)
    expect(await contents(store, 1)).toStrictEqual(before)
  })

  test('a block whose place is taken', async () => {
    const { store, before } = await prepare(':memory:')
    const failing = store.append(1, { ...newBlocks(12, 13, [settled(1, 13, 0)], 'b'), keepFrom: 12 })
    await expect(failing).rejects.toThrow('UNIQUE constraint failed: chain_headers')
    expect(await contents(store, 1)).toStrictEqual(before)
  })

  test('also in the file, and what comes next follows what was', async () => {
    const path = temporaryFile()
    const { store: first, close, before } = await prepare(path)
    await expect(first.append(1, newBlocks(13, 13, twice(1700)))).rejects.toThrow(STANDS)
    await close()

    const { store } = await openStore(path)
    expect(await contents(store, 1)).toStrictEqual(before)
    const next = [settled(1, 13, 0)]
    expect(await store.append(1, newBlocks(13, 13, next))).toStrictEqual(announced(3, ...next))
  })
})
