import { type Kysely, sql } from 'kysely'
import { describe, expect, test } from 'vitest'
import { createBlockedSolverStore } from '../../src/store/blocked-solvers.js'
import { createCircuitBreakerStore } from '../../src/store/circuit-breaker-store.js'
import type { TableSet } from '../../src/store/database.js'
import { createEventStore } from '../../src/store/event-store.js'
import { POSTGRES_TABLES } from '../../src/store/postgres-tables.js'
import type { QuoteRecordSchema } from '../../src/store/quote-record-schema.js'
import { NEW_DATABASES } from './databases.js'
import { header, newBlocks, SETTLEMENT, settled } from './event-samples.js'

/** The tables of the version before, which had other names for the same. */
function tablesBefore({ migrations, ...names }: TableSet): TableSet {
  const all = Object.entries(migrations)
  const before = all.slice(
    0,
    all.findIndex(([name]) => name.endsWith('field-terms')),
  )
  return { ...names, migrations: Object.fromEntries(before) }
}

describe.each(NEW_DATABASES)('the upgrade to the renamed tables in %s', (_which, create) => {
  test('keeps circuit breakers, leaders, blocked addresses and events', async () => {
    const on = await create()
    const before = await on.open(tablesBefore(on.tables))
    const run = (statement: string) => sql.raw(statement).execute(before.database)
    await run(`insert into solver_benches values (1, '0x01', 'https://a.example', 2, 5000)`)
    await run(`insert into solver_bars values (0, '0x02', 7000)`)
    await run(`insert into chain_readers values (1, 41)`)
    await run(`insert into chain_positions values (1, '${SETTLEMENT}', 11)`)
    const { hash, parentHash } = header(11)
    await run(`insert into chain_headers values (1, 11, '${hash}', '${parentHash}')`)
    const known = settled(1, 11, 0)
    const event = `1, 11, '${hash}', 0, 'Settled', '{}', '${known.event.orderId}', '0x0b', '0x0c'`
    await run(`insert into events values (1, ${event}, 0, 1000), (2, ${event}, 1, 2000)`)
    await run('update event_log set last_sequence = 2')
    await before.close()

    const { database, coordination } = await on.open()
    expect(await createCircuitBreakerStore(database).readAll()).toEqual([
      { chainId: 1, address: '0x01', endpointUrl: 'https://a.example', level: 2, until: 5000 },
    ])
    expect(await createBlockedSolverStore(database, coordination).readAll()).toEqual([
      { address: '0x02', chainId: undefined, blockedAt: 7000 },
    ])
    const rows = await database.selectFrom('events').select(['is_canonical', 'published_at_ms']).execute()
    expect(rows).toEqual([
      { is_canonical: 0, published_at_ms: 1000 },
      { is_canonical: 1, published_at_ms: 2000 },
    ])
    const store = createEventStore(database, () => 3000, coordination)
    const token = await store.takeOver(1)
    expect(token.epoch).toBe(42)
    // The index still holds each place of the chain for one canonical event.
    const twice = { ...known, blockHash: hash }
    await expect(store.append(token, newBlocks(12, 12, [twice]))).rejects.toThrow(/unique/i)
  })

  test('keeps the records of quotes, with the new names of outcomes', async () => {
    const on = await create()
    const tables = POSTGRES_TABLES.quoteRecords
    const before = await on.open<QuoteRecordSchema>(tablesBefore(tables))
    const text = JSON.stringify({
      outcome: 'quoted',
      asked: { amount: '1' },
      solvers: [
        { outcome: 'refused' },
        { outcome: 'benched' },
        { outcome: 'failed', reason: 'connection_refused' },
      ],
    })
    await before.database
      .insertInto('quote_records')
      .values({ quote_id: 'a', requested_at_ms: 1, record: text, start_byte: 0 })
      .execute()
    await before.close()

    const { database } = await on.open<QuoteRecordSchema>(tables)
    const { record } = await (database as Kysely<QuoteRecordSchema>)
      .selectFrom('quote_records')
      .select('record')
      .executeTakeFirstOrThrow()
    expect(JSON.parse(record)).toEqual({
      outcome: 'quoted',
      request: { amount: '1' },
      solvers: [
        { outcome: 'declined' },
        { outcome: 'circuit_open' },
        { outcome: 'failed', reason: 'connection_refused' },
      ],
    })
  })
})
