import type { Kysely } from 'kysely'
import { expect, test } from 'vitest'
import type { TableSet } from '../../src/store/database.js'
import type { Schema } from '../../src/store/schema.js'
import { createSolverStore } from '../../src/store/solver-store.js'
import { NEW_DATABASES } from './databases.js'
import { NO_LIMIT, sessionSolver, solver } from './solver-samples.js'

/** A row as the version before sessions writes it. */
type RowBefore = Omit<Schema['solvers'], 'session_id' | 'session_replica' | 'session_ended_at_ms'>

/** The tables of the version before sessions. */
function tablesBefore({ migrations, ...names }: TableSet): TableSet {
  const before = Object.entries(migrations).filter(([name]) => name < '011')
  return { ...names, migrations: Object.fromEntries(before) }
}

function rowBefore(number: number, endpointUrl: string): RowBefore {
  const { chainId, address, name, registeredAt } = solver(number)
  const bond = { is_bonded: 1, unbonded_since_ms: null }
  return {
    chain_id: chainId,
    address,
    endpoint_url: endpointUrl,
    name,
    registered_at_ms: registeredAt,
    ...bond,
  }
}

test.each(NEW_DATABASES)(
  'the upgrade in %s keeps solvers, which have no sessions',
  async (_which, create) => {
    const on = await create()
    const before = await on.open(tablesBefore(on.tables))
    const old = before.database as unknown as Kysely<{ solvers: RowBefore }>
    await old
      .insertInto('solvers')
      .values(rowBefore(1, solver(1).endpointUrl))
      .execute()
    await before.close()

    const { database, coordination } = await on.open()
    const store = createSolverStore(database, coordination)
    expect(await store.readAll()).toEqual([solver(1)])
    await store.saveSession(sessionSolver(1, 'a'), NO_LIMIT)
    expect(await store.readAll()).toEqual([solver(1, { session: { id: 'a' } })])
  },
)

test.each(NEW_DATABASES)(
  'registrations of an older version in the upgraded %s keep the sessions',
  async (_which, create) => {
    const on = await create()
    const older = await on.open(tablesBefore(on.tables))
    const { database, coordination } = await on.open()
    const store = createSolverStore(database, coordination)
    await store.saveSession(sessionSolver(1, 'a'), NO_LIMIT)
    // As the version before does it.
    const old = older.database as unknown as Kysely<{ solvers: RowBefore }>
    for (const number of [1, 2]) {
      const row = rowBefore(number, `https://new-${number}.example.org`)
      const { chain_id: _, address: __, registered_at_ms: ___, ...changes } = row
      await old
        .insertInto('solvers')
        .values(row)
        .onConflict((conflict) => conflict.columns(['chain_id', 'address']).doUpdateSet(changes))
        .execute()
    }
    expect(await store.readAll()).toEqual([
      solver(1, { endpointUrl: 'https://new-1.example.org', session: { id: 'a' } }),
      solver(2, { endpointUrl: 'https://new-2.example.org' }),
    ])
  },
)
