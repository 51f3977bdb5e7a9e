import type { Selectable } from 'kysely'
import type { ApiKey } from '../../clients/api-key.js'
import type { Database } from '../database.js'
import type { Schema } from '../schema.js'

/** The operator's API keys (docs/decisions.md, D27). A secret is never stored. */
export type ApiKeyStore = ReturnType<typeof createApiKeyStore>

/** What can change of a key. */
export type KeyChanges = Partial<Pick<ApiKey, 'digest' | 'limits' | 'revokedAt'>> & Pick<ApiKey, 'changedAt'>

/** Builds the store over an open database. */
export function createApiKeyStore(database: Database) {
  return {
    /** All keys, also those that are not valid any more, the oldest first. */
    async readAll(): Promise<ApiKey[]> {
      const rows = await database
        .selectFrom('api_keys')
        .selectAll()
        .orderBy('created_at_ms')
        .orderBy('id')
        .execute()
      return rows.map(toApiKey)
    },
    /** @throws the database's error when a key that is not revoked has its label */
    async add({ id, label, digest, limits, ...times }: ApiKey): Promise<void> {
      const changes = { created_at_ms: times.createdAt, changed_at_ms: times.changedAt }
      const ends = { expires_at_ms: times.expiresAt ?? null, revoked_at_ms: times.revokedAt ?? null }
      const dates = { ...changes, ...ends }
      const key = { id, label, digest, limits: JSON.stringify(limits), ...dates, last_used_day: null }
      await database.insertInto('api_keys').values(key).execute()
    },
    /** Changes a key that is not revoked, and nothing else of it. @returns whether there is one */
    async change(id: string, { digest, limits, revokedAt, changedAt }: KeyChanges): Promise<boolean> {
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
    /** Notes the day on which keys were used last, such as `2026-11-27`. */
    async recordUse(ids: readonly string[], day: string): Promise<void> {
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
