import { setImmediate as nextTurn } from 'node:timers/promises'
import { type SqlBool, sql } from 'kysely'
import type { SolverKey } from '../../../packages/protocol/src/solvers/solver.js'
import type { Address, Hex } from '../../../packages/protocol/src/values/hex.js'
import { type Database, forEachBatch } from '../database.js'

/** The nonce of an offer that went to a caller. */
export interface OfferNonce {
  readonly chainId: number
  /** Undefined for a nonce that the contract names without an order. It is used. */
  readonly orderId: Hex | undefined
  readonly solver: Address
  readonly nonce: bigint
  /** Unix time in seconds, after which an unused one may be removed. */
  readonly until: number
  /** Unix time in milliseconds. */
  readonly offeredAt: number
}

/** A nonce of a solver, and whether any order or cancellation has used it. */
interface NonceUse {
  readonly solver: Address
  readonly nonce: bigint
  readonly isUsed: boolean
}

/** Stores the nonces of offers, and which of them are used (docs/decisions.md, D25). */
export type OfferNonceStore = ReturnType<typeof createOfferNonceStore>

/** The bytes of a row with the longest nonce, in its table and indexes, on the larger of both databases. */
export const OFFER_ROW_BYTES = 640
/** Bound of all rows. Strangers fill it with their quotes. */
const MAX_BYTES = 256 * 1024 * 1024

const NO_ORDER = ''
/** Events after which a process may have ended before it marked their orders. */
const NEWEST_EVENTS = 1000
const PRUNED_ROWS = 500

const HAS_EVENT = sql`case when exists (select 1 from orders where orders.chain_id = offer_nonces.chain_id
  and orders.order_id = offer_nonces.order_id) then 1 else 0 end`

/** Builds the store over an open database. @param maxBytes the bound of all rows */
export function createOfferNonceStore(database: Database, maxBytes = MAX_BYTES) {
  const maxRows = Math.floor(maxBytes / OFFER_ROW_BYTES)

  async function markSome(chainId: number, orderIds: ReturnType<typeof sql>): Promise<boolean> {
    const { numAffectedRows = 0n } =
      await sql`update offer_nonces set used = ${HAS_EVENT} where chain_id = ${chainId}
      and order_id <> ${NO_ORDER} and order_id in (${orderIds}) and used <> ${HAS_EVENT}`.execute(database)
    return numAffectedRows > 0n
  }

  return {
    save: (nonces: readonly OfferNonce[]): Promise<void> =>
      forEachBatch(nonces, async (part) => {
        const rows = part.map(({ chainId, orderId, solver, nonce, until, offeredAt }) => {
          const key = { chain_id: chainId, order_id: orderId ?? NO_ORDER, solver, nonce: `${nonce}` }
          return { ...key, until, used: orderId === undefined ? 1 : 0, offered_at_ms: offeredAt }
        })
        await database
          .insertInto('offer_nonces')
          .values(rows)
          .onConflict((conflict) => conflict.doNothing())
          .execute()
      }),

    /**
     * Makes the nonces of orders used that have an event which stands, and those of the others unused.
     * @param orderIds undefined for the orders of the newest events
     * @returns whether anything has changed
     */
    async markOrders(chainId: number, orderIds?: readonly Hex[]): Promise<boolean> {
      if (orderIds === undefined)
        return markSome(
          chainId,
          sql`select order_id from (select order_id from events order by sequence desc limit ${NEWEST_EVENTS}) newest`,
        )
      let hasChanged = false
      await forEachBatch(orderIds, async (part) => {
        if (await markSome(chainId, sql.join(part))) hasChanged = true
      })
      return hasChanged
    },

    /** The nonces of the offers that became these orders. */
    async readOrders(chainId: number, orderIds: readonly Hex[]): Promise<NonceUse[]> {
      const found: NonceUse[] = []
      await forEachBatch(orderIds, async (part) => {
        const rows = await database
          .selectFrom('offer_nonces as offer')
          .select(['offer.solver', 'offer.nonce'])
          .select(({ exists, selectFrom }) =>
            exists(
              selectFrom('offer_nonces as other')
                .select('other.order_id')
                .whereRef('other.chain_id', '=', 'offer.chain_id')
                .whereRef('other.solver', '=', 'offer.solver')
                .whereRef('other.nonce', '=', 'offer.nonce')
                .where('other.used', '=', 1),
            ).as('is_used'),
          )
          .where('offer.chain_id', '=', chainId)
          .where('offer.order_id', 'in', part)
          .execute()
        for (const { solver, nonce, is_used } of rows)
          found.push({ solver: solver as Address, nonce: BigInt(nonce), isUsed: Boolean(is_used) })
      })
      return found
    },

    /** The used nonces of each solver of a chain, the newest `limit` of each, the oldest first. Removes older ones. */
    async readUsed(chainId: number, limit: number): Promise<Map<Address, bigint[]>> {
      const solvers = await database
        .selectFrom('offer_nonces')
        .select('solver')
        .distinct()
        .where('chain_id', '=', chainId)
        .where('used', '=', 1)
        .execute()
      const used = new Map<Address, bigint[]>()
      for (const { solver } of solvers)
        used.set(solver as Address, await readNewest({ chainId, address: solver as Address }, limit))
      return used
    },

    /** Removes some unused nonces whose time has passed. @returns whether there may be more */
    async pruneSome(chainId: number, beforeSeconds: number): Promise<boolean> {
      const rows = await database
        .selectFrom('offer_nonces')
        .select(['order_id', 'until'])
        .where('until', '<', beforeSeconds)
        .where('chain_id', '=', chainId)
        .where('used', '=', 0)
        .orderBy('until')
        .limit(PRUNED_ROWS)
        .execute()
      if (rows.length > 0)
        await database
          .deleteFrom('offer_nonces')
          .where('chain_id', '=', chainId)
          .where(
            'order_id',
            'in',
            rows.map(({ order_id }) => order_id),
          )
          .where('used', '=', 0)
          .execute()
      return rows.length === PRUNED_ROWS
    },

    /**
     * Removes the oldest rows beyond the bound, unused ones first.
     * @returns the bytes of the others, as the bound counts them
     */
    async trim(): Promise<{ readonly bytes: number; readonly dropped: number }> {
      const { rows } = await database
        .selectFrom('offer_nonces')
        .select(({ fn }) => fn.countAll<number>().as('rows'))
        .executeTakeFirstOrThrow()
      let dropped = 0
      for (let excess = rows - maxRows; excess > 0; excess -= PRUNED_ROWS) {
        if (dropped > 0) await nextTurn()
        dropped += await removeOldest(Math.min(excess, PRUNED_ROWS))
      }
      return { bytes: Math.min(rows, maxRows) * OFFER_ROW_BYTES, dropped }
    },
  }

  async function removeOldest(limit: number): Promise<number> {
    const { numAffectedRows = 0n } =
      await sql`delete from offer_nonces where (chain_id, order_id, solver, nonce) in
        (select chain_id, order_id, solver, nonce from offer_nonces order by used, offered_at_ms limit ${limit})`.execute(
        database,
      )
    return Number(numAffectedRows)
  }

  /** The newest used nonces of a solver, the oldest first. */
  async function readNewest({ chainId, address }: SolverKey, limit: number): Promise<bigint[]> {
    const rows = await database
      .selectFrom('offer_nonces')
      .select(['nonce', 'until'])
      .where('chain_id', '=', chainId)
      .where('solver', '=', address)
      .where('used', '=', 1)
      .orderBy('until', 'desc')
      .limit(limit)
      .execute()
    const oldest = rows.at(-1)
    if (rows.length === limit && oldest !== undefined)
      await database
        .deleteFrom('offer_nonces')
        .where('chain_id', '=', chainId)
        .where('solver', '=', address)
        .where('until', '<', oldest.until)
        .where(sql<SqlBool>`used = 1`)
        .execute()
    return rows.map(({ nonce }) => BigInt(nonce)).reverse()
  }
}
