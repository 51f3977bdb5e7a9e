import type { Selectable } from 'kysely'
import type { ApiKey } from '../../domain/api-key.js'
import type { Database } from '../database.js'
import type { Schema } from '../schema.js'

/** The operator's API keys (docs/decisions.md, D27). A secret is never stored. */
export interface ApiKeyStore {
  /** All keys, also those that are not valid any more, the oldest first. */
  readAll(): Promise<ApiKey[]>
  /** Adds a key, or replaces all of one but the day of its last use. @throws the database's error when a valid key has its label */
  save(key: ApiKey): Promise<void>
  /** Notes the day on which keys were used last, such as `2026-11-27`. */
  recordUse(ids: readonly string[], day: string): Promise<void>
}

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
    async save({ id, label, digest, limits, createdAt, expiresAt = null, revokedAt = null }) {
      const changing = {
        label,
        digest,
        limits: JSON.stringify(limits),
        expires_at_ms: expiresAt,
        revoked_at_ms: revokedAt,
      }
      await database
        .insertInto('api_keys')
        .values({ id, created_at_ms: createdAt, last_used_day: null, ...changing })
        .onConflict((conflict) => conflict.column('id').doUpdateSet(changing))
        .execute()
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
    expiresAt: row.expires_at_ms ?? undefined,
    revokedAt: row.revoked_at_ms ?? undefined,
    lastUsedDay: row.last_used_day ?? undefined,
  }
}
