import { type Kysely, type Migration, sql } from 'kysely'

/** When a key was last changed: after a restore, what is missing shows (docs/operations.md). */
export const changedKeys: Migration = {
  async up(database: Kysely<unknown>) {
    await sql`alter table api_keys add column changed_at_ms bigint not null default 0`.execute(database)
    await sql`update api_keys set changed_at_ms = coalesce(revoked_at_ms, created_at_ms)`.execute(database)
  },
}
