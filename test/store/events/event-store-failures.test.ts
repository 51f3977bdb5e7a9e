import { describe, expect, test } from 'vitest'
import { FencedError, type FencingToken } from '../../../src/store/events/chain-positions.js'
import type { EventStore } from '../../../src/store/events/event-store.js'
import { BOTH_DATABASES, type TestDatabase } from '../databases.js'
import {
  header,
  manySettled,
  newBlocks,
  openToRead,
  publishedEntries,
  SETTLEMENT,
  STANDS,
  settled,
} from './event-samples.js'

/** A store with two events of chain 1. Its clock fails when the test says so. */
async function prepare(on: TestDatabase) {
  const clock = { isBroken: false }
  const opened = await openToRead(on, () => {
    if (clock.isBroken) throw new Error('no time')
    return 0
  })
  await opened.store.begin(opened.one, SETTLEMENT, header(10))
  await opened.store.append(opened.one, newBlocks(11, 12, [settled(1, 11, 0), settled(1, 12, 0)]))
  return { ...opened, clock, before: await opened.contents(1, 2, 3) }
}

type Prepared = Awaited<ReturnType<typeof prepare>>

const append =
  (from: number, events: ReturnType<typeof manySettled>, branch = 'a') =>
  ({ store, one }: Prepared) =>
    store.append(one, { ...newBlocks(from, 14, events, branch), keepFrom: 12 })
/** The error of SQLite and PostgreSQL for a block number that exists already. */
const TAKEN = /UNIQUE constraint failed: chain_headers|constraint "chain_headers_pk"$/

/** All writes of a leader. */
const writes = (store: EventStore, token: FencingToken) => [
  () => store.begin(token, '0x5e2', header(40, 'b')),
  () => store.append(token, newBlocks(13, 13, [settled(1, 13, 0)])),
  () => store.append(token, newBlocks(13, 13, [])),
  () => store.appendMissing(token, [settled(1, 12, 1)]),
  () => store.completeOrders(token, []),
  () => store.revert(token, header(11)),
]

describe.each(BOTH_DATABASES)('%s', (_where, kind) => {
  const create = kind()

  test.each<[string, (on: Prepared) => Promise<unknown>, RegExp | string]>([
    ['an event published before', append(13, [settled(1, 13, 0), settled(1, 12, 0)]), STANDS],
    ['an event that comes twice', append(13, [settled(1, 13, 0), settled(1, 13, 0)]), STANDS],
    [
      'an event that comes again in the second statement',
      append(13, [...manySettled(1, 13, 501), settled(1, 13, 500)]),
      STANDS,
    ],
    ['a block whose number exists already', append(12, [settled(1, 13, 0)], 'b'), TAKEN],
    [
      'a clock that fails during a revert',
      ({ store, one, clock }) => {
        clock.isBroken = true
        return store.revert(one, header(11))
      },
      'no time',
    ],
  ])(
    'a write that %s makes fail changes nothing, and the next one follows the last entry',
    async (...row) => {
      const [, write, message] = row
      const prepared = await prepare(await create())
      const { store, one, contents, before, clock } = prepared
      await expect(write(prepared)).rejects.toThrow(message)
      expect(await contents(1, 2, 3)).toStrictEqual(before)
      clock.isBroken = false
      const next = [settled(1, 13, 0)]
      expect(await store.append(one, newBlocks(13, 13, next))).toStrictEqual(publishedEntries(3, ...next))
    },
  )

  test('no write succeeds with a token that is not the last one of its chain, and none changes anything', async () => {
    const { store, one, two, contents, before } = await prepare(await create())
    const last = await store.takeOver(1)
    for (const token of [one, { ...one, epoch: 3 }, { ...one, chainId: 3 }])
      for (const write of writes(store, token))
        await expect(write()).rejects.toThrow(
          new FencedError(`another process reads chain ${token.chainId} now`),
        )
    expect(await contents(1, 2, 3)).toStrictEqual(before)
    const more = [settled(1, 13, 0), settled(2, 13, 0)] as const
    expect(await store.append(last, newBlocks(13, 13, [more[0]]))).toStrictEqual(publishedEntries(3, more[0]))
    expect(await store.append(two, newBlocks(13, 13, [more[1]]))).toStrictEqual(publishedEntries(4, more[1]))
  })
})
