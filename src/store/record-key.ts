import type { Database } from './database.js'

/** Reads the instance's key, which encrypts quote ids for solvers (docs/decisions.md, D15). @returns 16 bytes */
export async function readRecordKey(database: Database): Promise<Uint8Array> {
  const row = await database.selectFrom('record_keys').select('record_key').executeTakeFirstOrThrow()
  return Buffer.from(row.record_key, 'hex')
}
