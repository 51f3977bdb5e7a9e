import { sql } from 'kysely'
import { type SolverKey, solverBlocked } from '../../../packages/protocol/src/solvers/solver.js'
import type { Address } from '../../../packages/protocol/src/values/hex.js'
import { type Coordination, type Database, type DatabaseTransaction, NO_COORDINATION } from '../database.js'

/** The lists of solvers of the operator. */
export type SolverLists = Readonly<Record<SolverListName, SolverList>>

/** A list of the operator (docs/decisions.md, D14; docs/decisions.md, D26). */
export type SolverListName = 'blocked' | 'allowed'

/** An address on a list. */
export interface ListedSolver {
  readonly address: Address
  /** Undefined for every chain. */
  readonly chainId: number | undefined
  /** Unix time in milliseconds. */
  readonly listedAt: number
}

/** A list of addresses. Blocked ones may not register; where only allowed ones may, others count as blocked. */
export interface SolverList {
  /** All entries, the oldest first. */
  readAll(): Promise<ListedSolver[]>
  /**
   * Adds an address. One that is blocked loses its registrations, in the same transaction. Their last accepted timestamps stay.
   * @returns the chains on which it was registered and is not any more, ascending
   */
  add(listed: ListedSolver): Promise<number[]>
  /**
   * Removes an address on one chain, or on every chain when `chainId` is undefined.
   * @returns the number of entries removed; an entry for every chain does not count for a single chain
   */
  remove(address: Address, chainId: number | undefined): Promise<number>
}

const EVERY_CHAIN = 0

/** Builds both lists over an open database. They notify replicas of each chain that loses a solver, by the chain's id. */
export function createSolverLists(database: Database, coordination: Coordination = NO_COORDINATION) {
  return {
    blocked: createList('blocked', database, coordination),
    allowed: createList('allowed', database, coordination),
  }
}

function createList(
  list: SolverListName,
  database: Database,
  { serialize, notify }: Coordination,
): SolverList {
  async function unregister(transaction: DatabaseTransaction, { address, chainId }: ListedSolver) {
    const removed = await transaction
      .deleteFrom('solvers')
      .where('address', '=', address)
      .$if(chainId !== undefined, (query) => query.where('chain_id', '=', Number(chainId)))
      .returning('chain_id')
      .execute()
    const chainIds = removed.map((row) => row.chain_id).sort((one, other) => one - other)
    for (const each of chainIds) await notify(transaction, 'solvers', String(each))
    return chainIds
  }

  return {
    async readAll() {
      const rows = await database
        .selectFrom('listed_solvers')
        .selectAll()
        .where('list', '=', list)
        .orderBy('listed_at_ms')
        .orderBy('address')
        .orderBy('chain_id')
        .execute()
      return rows.map((row) => ({
        address: row.address as Address,
        chainId: row.chain_id === EVERY_CHAIN ? undefined : row.chain_id,
        listedAt: row.listed_at_ms,
      }))
    },

    add: (listed) =>
      database.transaction().execute(async (transaction) => {
        const { address, chainId, listedAt } = listed
        await serialize(transaction, lockNameOf(address))
        await transaction
          .insertInto('listed_solvers')
          .values({ list, chain_id: chainId ?? EVERY_CHAIN, address, listed_at_ms: listedAt })
          .onConflict((conflict) => conflict.columns(['list', 'chain_id', 'address']).doNothing())
          .execute()
        return list === 'blocked' ? unregister(transaction, listed) : []
      }),

    async remove(address, chainId) {
      const { numDeletedRows } = await database
        .deleteFrom('listed_solvers')
        .where('list', '=', list)
        .where('address', '=', address)
        .$if(chainId !== undefined, (query) => query.where('chain_id', '=', Number(chainId)))
        .executeTakeFirstOrThrow()
      return Number(numDeletedRows)
    },
  }
}

/** Whether the address may not register on the chain. @param allowedOnly only the addresses on the list of allowed ones may */
export async function isBlocked(
  database: Database,
  { chainId, address }: SolverKey,
  allowedOnly: boolean,
): Promise<boolean> {
  const rows = await database
    .selectFrom('listed_solvers')
    .select('list')
    .where('address', '=', address)
    .where('chain_id', 'in', [chainId, EVERY_CHAIN])
    .execute()
  const lists = rows.map(({ list }) => list)
  return lists.includes('blocked') || (allowedOnly && !lists.includes('allowed'))
}

/** The registered solvers of a chain that are blocked on it. @param allowedOnly as in `isBlocked` */
export async function readBlocked(
  database: Database,
  chainId: number,
  allowedOnly: boolean,
): Promise<Address[]> {
  const isListed = (list: SolverListName) =>
    sql<boolean>`address in (select address from listed_solvers where list = ${list} and chain_id in (${chainId}, ${EVERY_CHAIN}))`
  const rows = await database
    .selectFrom('solvers')
    .select('address')
    .where('chain_id', '=', chainId)
    .where(({ or, not }) => or([isListed('blocked'), ...(allowedOnly ? [not(isListed('allowed'))] : [])]))
    .execute()
  return rows.map((row) => row.address as Address)
}

/**
 * Checks that an address is not blocked. Until the end of the transaction, an attempt to block it waits.
 * @throws ServiceError SOLVER_BLOCKED
 */
export async function assertNotBlocked(
  transaction: DatabaseTransaction,
  key: SolverKey,
  { serialize, allowedOnly }: Pick<Coordination, 'serialize'> & { readonly allowedOnly: boolean },
): Promise<void> {
  await serialize(transaction, lockNameOf(key.address))
  if (await isBlocked(transaction, key, allowedOnly)) throw solverBlocked()
}

function lockNameOf(address: Address): string {
  return `solver ${address}`
}
