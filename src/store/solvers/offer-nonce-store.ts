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
}

/** A nonce of a solver, and whether any order or cancellation has used it. */
export interface NonceUse {
  readonly solver: Address
  readonly nonce: bigint
  readonly isUsed: boolean
}

/** Stores the nonces of offers, and which of them are used (docs/decisions.md, D25). */
export interface OfferNonceStore {
  save(nonces: readonly OfferNonce[]): Promise<void>
  /**
   * Makes the nonces of orders used that have an event which stands, and those of the others unused.
   * @param orderIds undefined for the orders of the newest events
   * @returns whether anything has changed
   */
  markOrders(chainId: number, orderIds?: readonly Hex[]): Promise<boolean>
  /** The nonces of the offers that became these orders. */
  readOrders(chainId: number, orderIds: readonly Hex[]): Promise<NonceUse[]>
  /** The used nonces of each solver of a chain, the newest `limit` of each, the oldest first. Removes older ones. */
  readUsed(chainId: number, limit: number): Promise<Map<Address, bigint[]>>
  /** Removes some unused nonces whose time has passed. @returns whether there may be more */
  pruneSome(chainId: number, beforeSeconds: number): Promise<boolean>
}

const NO_ORDER = ''
/** Events after which a process may have ended before it marked their orders. */
const NEWEST_EVENTS = 1000
const PRUNED_ROWS = 500

const HAS_EVENT = sql`case when exists (select 1 from orders where orders.chain_id = offer_nonces.chain_id
  and orders.order_id = offer_nonces.order_id) then 1 else 0 end`

/** Builds the store over an open database. */
export function createOfferNonceStore(database: Database): OfferNonceStore {
  async function markSome(chainId: number, orderIds: ReturnType<typeof sql>): Promise<boolean> {
    const { numAffectedRows = 0n } =
      await sql`update offer_nonces set used = ${HAS_EVENT} where chain_id = ${chainId}
      and order_id <> ${NO_ORDER} and order_id in (${orderIds}) and used <> ${HAS_EVENT}`.execute(database)
    return numAffectedRows > 0n
  }

  return {
    save: (nonces) =>
      forEachBatch(nonces, async (part) => {
        const rows = part.map(({ chainId, orderId, solver, nonce, until }) => {
          const used = orderId === undefined ? 1 : 0
          return { chain_id: chainId, order_id: orderId ?? NO_ORDER, solver, nonce: `${nonce}`, until, used }
        })
        await database
          .insertInto('offer_nonces')
          .values(rows)
          .onConflict((conflict) => conflict.doNothing())
          .execute()
      }),

    async markOrders(chainId, orderIds) {
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

    async readOrders(chainId, orderIds) {
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

    async readUsed(chainId, limit) {
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

    async pruneSome(chainId, beforeSeconds) {
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
