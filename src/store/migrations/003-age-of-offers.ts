import { type Kysely, type Migration, sql } from 'kysely'

/** The oldest offers go first when their table reaches its bound (docs/decisions.md, D25). */
export const ageOfOffers: Migration = {
  async up(database: Kysely<unknown>) {
    await sql`alter table offer_nonces add column offered_at_ms bigint not null default 0`.execute(database)
    await sql`create index offer_nonces_by_age on offer_nonces (used, offered_at_ms)`.execute(database)
  },
}
