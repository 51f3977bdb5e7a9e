import type { Selectable } from 'kysely'
import type { ApiKey } from '../../clients/api-key.js'
import type { Database } from '../database.js'
import type { Schema } from '../schema.js'

/** The operator's API keys (docs/decisions.md, D27). A secret is never stored. */
export interface ApiKeyStore {
  /** All keys, also those that are not valid any more, the oldest first. */
  readAll(): Promise<ApiKey[]>
  /** @throws the database's error when a key that is not revoked has its label */
  add(key: ApiKey): Promise<void>
  /** Changes a key that is not revoked, and nothing else of it. @returns whether there is one */
  change(id: string, changes: KeyChanges): Promise<boolean>
  /** Notes the day on which keys were used last, such as `2026-11-27`. */
  recordUse(ids: readonly string[], day: string): Promise<void>
}

/** What can change of a key. */
export type KeyChanges = Partial<Pick<ApiKey, 'digest' | 'limits' | 'revokedAt'>> & Pick<ApiKey, 'changedAt'>

/** Builds the store over an open database. */
export function createApiKeyStore(database: Database): ApiKeyStore {
  return {
    async readAll() {
      const rows = await database
        .selectFrom('api_keys')
        .selectAll()
        .orderBy('created_at_ms')
        .orderBy('id')
        .execute()
      return rows.map(toApiKey)
    },
    async add({ id, label, digest, limits, createdAt, changedAt, expiresAt = null, revokedAt = null }) {
      const changes = { created_at_ms: createdAt, changed_at_ms: changedAt }
      const dates = { ...changes, expires_at_ms: expiresAt, revoked_at_ms: revokedAt }
      const key = { id, label, digest, limits: JSON.stringify(limits), ...dates, last_used_day: null }
      await database.insertInto('api_keys').values(key).execute()
    },
    async change(id, { digest, limits, revokedAt, changedAt }) {
      const { numUpdatedRows } = await database
        .updateTable('api_keys')
        .set({
          digest,
          limits: limits && JSON.stringify(limits),
          revoked_at_ms: revokedAt,
          changed_at_ms: changedAt,
        })
        .where('id', '=', id)
        .where('revoked_at_ms', 'is', null)
        .executeTakeFirst()
      return numUpdatedRows > 0n
    },
    async recordUse(ids, day) {
      await database.updateTable('api_keys').set({ last_used_day: day }).where('id', 'in', ids).execute()
    },
  }
}

function toApiKey(row: Selectable<Schema['api_keys']>): ApiKey {
  return {
    id: row.id,
    label: row.label,
    digest: row.digest,
    limits: JSON.parse(row.limits),
    createdAt: row.created_at_ms,
    changedAt: row.changed_at_ms,
    expiresAt: row.expires_at_ms ?? undefined,
    revokedAt: row.revoked_at_ms ?? undefined,
    lastUsedDay: row.last_used_day ?? undefined,
  }
}
