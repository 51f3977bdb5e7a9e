import type { Kysely } from 'kysely'
import { describe, expect, test } from 'vitest'
import type { EventWithPosition } from '../../src/domain/block.js'
import type { Database, TableSet } from '../../src/store/database.js'
import { eventRow } from '../../src/store/event-rows.js'
import { createEventStore } from '../../src/store/event-store.js'
import type { Schema } from '../../src/store/schema.js'
import { createSolverStore } from '../../src/store/solver-store.js'
import { createPostgresDatabase } from '../support/databases/postgres-database.js'
import { NEW_DATABASES, postgresAt } from './databases.js'
import {
  header,
  newBlocks,
  openStore,
  publishedEntries,
  revertedEntries,
  SETTLEMENT,
  settled,
} from './event-samples.js'

/** The tables of a version, by the beginning of its last migration's name. */
function tablesUntil(last: string, { migrations, ...names }: TableSet): TableSet {
  const until = Object.entries(migrations).filter(([name]) => name <= `${last}~`)
  return { ...names, migrations: Object.fromEntries(until) }
}

const events = [settled(1, 11, 0), settled(1, 12, 0), settled(2, 5, 0), settled(1, 12, 1)]

/** An event as the version before kept it. */
function withoutTransaction({ event, blockHash }: EventWithPosition): EventWithPosition {
  return { event: { ...event, transactionHash: undefined, blockTime: undefined }, blockHash }
}

/** Writes the events in the form of the version before, without those up to a removed sequence. */
async function write(database: Database, prunedSequence: number): Promise<void> {
  const rows = events.map((event, index) => eventRow(index + 1, event, 1000)).slice(prunedSequence)
  const asBefore = (row: (typeof rows)[0]) => {
    const {
      is_canonical,
      published_at_ms,
      transaction_hash: _,
      block_time: __,
      is_in_orders: ___,
      ...rest
    } = row
    return { ...rest, is_standing: is_canonical, announced_at_ms: published_at_ms }
  }
  const before = database as unknown as Kysely<{ events: ReturnType<typeof asBefore> }>
  if (rows.length > 0) await before.insertInto('events').values(rows.map(asBefore)).execute()
  await database.updateTable('event_log').set({ pruned_sequence: prunedSequence }).execute()
  const position = { chain_id: 1, settlement: SETTLEMENT, first_block: 11 }
  await database.insertInto('chain_positions').values(position).execute()
  const headers = [11, 12].map((number) => header(number))
  const toRow = ({ parentHash, ...rest }: (typeof headers)[0]) => ({
    chain_id: 1,
    parent_hash: parentHash,
    ...rest,
  })
  await database.insertInto('chain_headers').values(headers.map(toRow)).execute()
}

describe.each(NEW_DATABASES)('a log of the version before replicas in %s', (_which, create) => {
  test.each([
    ['nothing', 0],
    ['a part', 2],
    ['everything', 4],
  ])('keeps its sequences, its id and its chain when %s was removed from it', async (_what, pruned) => {
    const on = await create()
    const before = await on.open(tablesUntil('003', on.tables))
    await write(before.database, pruned)
    const { log_id } = await before.database
      .selectFrom('event_log')
      .select('log_id')
      .executeTakeFirstOrThrow()
    await before.close()

    const { store, contents } = await openStore(on)
    expect(await contents(1)).toStrictEqual({
      state: { logId: log_id, lastSequence: 4, prunedSequence: pruned },
      entries: publishedEntries(1, ...events.map(withoutTransaction)).slice(pruned),
      positions: [{ settlement: SETTLEMENT, firstBlock: 11, headers: [header(11), header(12)] }],
    })
    const token = await store.takeOver(1)
    expect(token.epoch).toBe(1)
    const next = [settled(1, 13, 0)]
    expect(await store.append(token, newBlocks(13, 13, next))).toStrictEqual(publishedEntries(5, ...next))
    expect(await store.revert(token, header(12))).toStrictEqual(revertedEntries(6, ...next))
    expect(await store.readState()).toEqual({ logId: log_id, lastSequence: 6, prunedSequence: pruned })
  })

  test('begins with the first sequence when it was always empty', async () => {
    const on = await create()
    const before = await on.open(tablesUntil('003', on.tables))
    await before.close()
    const { store } = await openStore(on)
    expect(await store.readState()).toMatchObject({ lastSequence: 0, prunedSequence: 0 })
    const first = [settled(1, 11, 0)]
    const entries = await store.append(await store.takeOver(1), newBlocks(11, 11, first))
    expect(entries).toStrictEqual(publishedEntries(1, ...first))
  })
})

test.each(NEW_DATABASES)(
  'solvers in %s without a bond at the upgrade count as unbonded from then on',
  async (_which, create) => {
    const on = await create()
    const before = await on.open(tablesUntil('004', on.tables))
    const row = { chain_id: 1, endpoint_url: 'https://a.example', name: 'A', registered_at_ms: 1 }
    const old = before.database as unknown as Kysely<{
      solvers: Omit<Schema['solvers'], 'unbonded_since_ms'>
    }>
    await old
      .insertInto('solvers')
      .values([
        { ...row, address: '0x01', is_bonded: 1 },
        { ...row, address: '0x02', is_bonded: 0 },
      ])
      .execute()
    await before.close()

    const start = Date.now()
    const { database, coordination } = await on.open()
    const [bonded, unbonded] = await createSolverStore(database, coordination).readAll()
    expect([bonded?.isBonded, bonded?.unbondedSince, unbonded?.isBonded]).toEqual([true, undefined, false])
    expect(unbonded?.unbondedSince).toBeGreaterThanOrEqual(start)
  },
)

test('replicas that start at the same time migrate an empty database once', async () => {
  for (let round = 1; round <= 3; round++) {
    const on = postgresAt(await createPostgresDatabase())
    const opened = await Promise.all(Array.from({ length: 3 }, () => on.open()))
    const states = await Promise.all(
      opened.map(({ database }) => createEventStore(database, () => 0).readState()),
    )
    const logs = await opened[0]?.database.selectFrom('event_log').selectAll().execute()
    expect(logs).toHaveLength(1)
    const state = { logId: logs?.[0]?.log_id, lastSequence: 0, prunedSequence: 0 }
    expect(states).toEqual(opened.map(() => state))
    await Promise.all(opened.map(({ close }) => close()))
  }
})
