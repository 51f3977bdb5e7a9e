import { sql } from 'kysely'
import { type SolverKey, solverBlocked } from '../../../packages/protocol/src/solvers/solver.js'
import type { Address } from '../../../packages/protocol/src/values/hex.js'
import type { Coordination, Database, DatabaseTransaction } from '../database.js'
import { EVERY_CHAIN, lockNameOf, type SolverListName } from './listed-solvers.js'

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
