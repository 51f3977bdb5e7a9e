import type { Database } from './database.js'

/** Reads the instance's key for the ids that solvers are asked under (docs/decisions.md, D15). @returns 16 bytes */
export async function readRecordKey(database: Database): Promise<Uint8Array> {
  const row = await database.selectFrom('record_keys').select('record_key').executeTakeFirstOrThrow()
  return Buffer.from(row.record_key, 'hex')
}
