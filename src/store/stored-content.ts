import type { Kysely } from 'kysely'
import type { Solver } from '../../packages/protocol/src/solvers/solver.js'
import type { Schema } from './schema.js'
import { createSolverStore } from './solvers/solver-store.js'

/** What `doctor` compares with the world. */
export interface StoredContent {
  /** The registered solvers. */
  readonly solvers: readonly Solver[]
  /** The number of the last block whose events are published, by chain. */
  readonly lastBlocks: ReadonlyMap<number, number>
}

export const NO_CONTENT: StoredContent = { solvers: [], lastBlocks: new Map() }

/** Reads it from a database with the tables of this version. */
export async function readContent(database: Kysely<Schema>): Promise<StoredContent> {
  const headers = await database
    .selectFrom('chain_headers')
    .select(['chain_id', 'number'])
    .orderBy('number')
    .execute()
  return {
    solvers: await createSolverStore(database).readAll(),
    lastBlocks: new Map(headers.map(({ chain_id, number }) => [chain_id, number])),
  }
}
