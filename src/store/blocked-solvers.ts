import type { Address } from '../domain/hex.js'
import { type SolverKey, solverBlocked } from '../domain/solver.js'
import { type Coordination, type Database, type DatabaseTransaction, NO_COORDINATION } from './database.js'

/** A blocked address, which may not register. */
export interface BlockedSolver {
  readonly address: Address
  /** Undefined for every chain. */
  readonly chainId: number | undefined
  /** Unix time in milliseconds. */
  readonly blockedAt: number
}

/** The addresses that the operator has blocked (docs/decisions.md, D14). */
export interface BlockedSolverStore {
  /** All blocked addresses, the oldest entry first. */
  readAll(): Promise<BlockedSolver[]>
  /**
   * Blocks an address and removes its registrations, in one transaction. Their last accepted timestamps stay.
   * @returns the chains on which it was registered, ascending
   */
  add(blocked: BlockedSolver): Promise<number[]>
  /**
   * Unblocks an address on one chain, or on every chain when `chainId` is undefined.
   * @returns the number of entries removed; an entry for every chain does not count for a single chain
   */
  remove(address: Address, chainId: number | undefined): Promise<number>
}

/** The blocked solvers of a database that a service may be using at the same time. */
export interface OpenBlockedSolvers {
  readonly blockedSolvers: BlockedSolverStore
  close(): Promise<void>
}

const EVERY_CHAIN = 0

/** Builds the store over an open database. It notifies replicas of each chain that loses a solver, by the chain's id. */
export function createBlockedSolverStore(
  database: Database,
  { serialize, notify }: Coordination = NO_COORDINATION,
): BlockedSolverStore {
  return {
    async readAll() {
      const rows = await database
        .selectFrom('blocked_solvers')
        .selectAll()
        .orderBy('blocked_at_ms')
        .orderBy('address')
        .orderBy('chain_id')
        .execute()
      return rows.map((row) => ({
        address: row.address as Address,
        chainId: row.chain_id === EVERY_CHAIN ? undefined : row.chain_id,
        blockedAt: row.blocked_at_ms,
      }))
    },

    add: ({ address, chainId, blockedAt }) =>
      database.transaction().execute(async (transaction) => {
        await serialize(transaction, lockNameOf(address))
        await transaction
          .insertInto('blocked_solvers')
          .values({ chain_id: chainId ?? EVERY_CHAIN, address, blocked_at_ms: blockedAt })
          .onConflict((conflict) => conflict.columns(['chain_id', 'address']).doNothing())
          .execute()
        const removed = await transaction
          .deleteFrom('solvers')
          .where('address', '=', address)
          .$if(chainId !== undefined, (query) => query.where('chain_id', '=', Number(chainId)))
          .returning('chain_id')
          .execute()
        const chainIds = removed.map((row) => row.chain_id).sort((one, other) => one - other)
        for (const each of chainIds) await notify(transaction, 'solvers', String(each))
        return chainIds
      }),

    async remove(address, chainId) {
      const { numDeletedRows } = await database
        .deleteFrom('blocked_solvers')
        .where('address', '=', address)
        .$if(chainId !== undefined, (query) => query.where('chain_id', '=', Number(chainId)))
        .executeTakeFirstOrThrow()
      return Number(numDeletedRows)
    },
  }
}

/** Whether the address may not register on the chain. */
export async function isBlocked(database: Database, { chainId, address }: SolverKey): Promise<boolean> {
  const row = await database
    .selectFrom('blocked_solvers')
    .select('address')
    .where('address', '=', address)
    .where('chain_id', 'in', [chainId, EVERY_CHAIN])
    .executeTakeFirst()
  return row !== undefined
}

/** The registered solvers of a chain that are blocked on it. */
export async function readBlocked(database: Database, chainId: number): Promise<Address[]> {
  const rows = await database
    .selectFrom('solvers')
    .select('address')
    .where('chain_id', '=', chainId)
    .where('address', 'in', (query) =>
      query
        .selectFrom('blocked_solvers')
        .select('blocked_solvers.address')
        .where('blocked_solvers.chain_id', 'in', [chainId, EVERY_CHAIN]),
    )
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
  serialize: Coordination['serialize'],
): Promise<void> {
  await serialize(transaction, lockNameOf(key.address))
  if (await isBlocked(transaction, key)) throw solverBlocked()
}

function lockNameOf(address: Address): string {
  return `solver ${address}`
}
