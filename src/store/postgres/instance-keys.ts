import type { Database } from '../database.js'

/** Reads the instance's key, which encrypts quote ids for solvers (docs/decisions.md, D15). @returns 16 bytes */
export async function readRecordKey(database: Database): Promise<Uint8Array> {
  const row = await database.selectFrom('record_keys').select('record_key').executeTakeFirstOrThrow()
  return Buffer.from(row.record_key, 'hex')
}

/** Reads the key with which the replicas of an instance sign their requests to each other (docs/decisions.md, D18). @returns 32 bytes */
export async function readReplicaKey(database: Database): Promise<Uint8Array> {
  const row = await database.selectFrom('replica_keys').select('replica_key').executeTakeFirstOrThrow()
  return Buffer.from(row.replica_key, 'hex')
}
