import { ServiceError } from '../domain/errors.js'
import type { Address } from '../domain/hex.js'
import { type Solver, type SolverKey, solverLimitReached, timestampReused } from '../domain/solver.js'
import { ALONE, type Coordination, type Database, type DatabaseTransaction } from './database.js'

/** Keeps registrations, and the last accepted timestamp of each solver beyond them. */
export interface SolverStore {
  /** Every registered solver, the longest registered first; of one chain when it is given. */
  readAll(chainId?: number): Promise<Solver[]>
  /** The last accepted timestamp in Unix milliseconds; undefined when none was ever accepted. */
  lastTimestamp(key: SolverKey): Promise<number | undefined>
  /**
   * Adds or updates a solver and moves its timestamp, in one transaction.
   * @returns the solver as stored; one that was there keeps its `registeredAt`
   * @throws ServiceError TIMESTAMP_REUSED, or SOLVER_LIMIT_REACHED when it would be one more than `maxPerChain`
   */
  save(solver: Solver, timestamp: number, maxPerChain: number): Promise<Solver>
  /**
   * Removes a solver and moves its timestamp, in one transaction.
   * @throws ServiceError TIMESTAMP_REUSED, or SOLVER_NOT_FOUND
   */
  remove(key: SolverKey, timestamp: number): Promise<void>
  /** Notes whether a solver's bond suffices; one that is not registered is left alone. */
  setBonded(key: SolverKey, isBonded: boolean): Promise<void>
}

/** Builds the store of registrations over an open database; what changes there is announced by its chain's id. */
export function createSolverStore(
  database: Database,
  { serialize, announce }: Coordination = ALONE,
): SolverStore {
  return {
    async readAll(chainId) {
      const rows = await database
        .selectFrom('solvers')
        .selectAll()
        .$if(chainId !== undefined, (query) => query.where('chain_id', '=', Number(chainId)))
        .orderBy('registered_at_ms')
        .orderBy('address')
        .execute()
      return rows.map((row) => ({
        chainId: row.chain_id,
        address: row.address as Address,
        endpointUrl: row.endpoint_url,
        name: row.name,
        registeredAt: row.registered_at_ms,
        isBonded: row.is_bonded === 1,
      }))
    },

    lastTimestamp: (key) => readTimestamp(database, key),

    save: (solver, timestamp, maxPerChain) =>
      database.transaction().execute(async (transaction) => {
        await serialize(transaction, `solvers ${solver.chainId}`)
        await moveTimestamp(transaction, solver, timestamp)
        const before = await transaction
          .selectFrom('solvers')
          .select('registered_at_ms')
          .where('chain_id', '=', solver.chainId)
          .where('address', '=', solver.address)
          .executeTakeFirst()
        if (before === undefined) await assertPlace(transaction, solver.chainId, maxPerChain)

        const registeredAt = before?.registered_at_ms ?? solver.registeredAt
        const changes = {
          endpoint_url: solver.endpointUrl,
          name: solver.name,
          is_bonded: Number(solver.isBonded),
        }
        await transaction
          .insertInto('solvers')
          .values({
            chain_id: solver.chainId,
            address: solver.address,
            registered_at_ms: registeredAt,
            ...changes,
          })
          .onConflict((conflict) => conflict.columns(['chain_id', 'address']).doUpdateSet(changes))
          .execute()
        await announce(transaction, 'solvers', String(solver.chainId))
        return { ...solver, registeredAt }
      }),

    remove: (key, timestamp) =>
      database.transaction().execute(async (transaction) => {
        await moveTimestamp(transaction, key, timestamp)
        const { numDeletedRows } = await transaction
          .deleteFrom('solvers')
          .where('chain_id', '=', key.chainId)
          .where('address', '=', key.address)
          .executeTakeFirst()
        if (numDeletedRows === 0n)
          throw new ServiceError('SOLVER_NOT_FOUND', 'This solver is not registered here.')
        await announce(transaction, 'solvers', String(key.chainId))
      }),

    setBonded: (key, isBonded) =>
      database.transaction().execute(async (transaction) => {
        await transaction
          .updateTable('solvers')
          .set({ is_bonded: Number(isBonded) })
          .where('chain_id', '=', key.chainId)
          .where('address', '=', key.address)
          .execute()
        await announce(transaction, 'solvers', String(key.chainId))
      }),
  }
}

async function readTimestamp(
  database: Database,
  { chainId, address }: SolverKey,
): Promise<number | undefined> {
  const row = await database
    .selectFrom('solver_timestamps')
    .select('last_timestamp_ms')
    .where('chain_id', '=', chainId)
    .where('address', '=', address)
    .executeTakeFirst()
  return row?.last_timestamp_ms
}

/** In one statement, since another replica may be taking the same message at this moment. */
async function moveTimestamp(
  transaction: DatabaseTransaction,
  key: SolverKey,
  timestamp: number,
): Promise<void> {
  const moved = await transaction
    .insertInto('solver_timestamps')
    .values({ chain_id: key.chainId, address: key.address, last_timestamp_ms: timestamp })
    .onConflict((conflict) =>
      conflict
        .columns(['chain_id', 'address'])
        .doUpdateSet({ last_timestamp_ms: timestamp })
        .where('solver_timestamps.last_timestamp_ms', '<', timestamp),
    )
    .returning('last_timestamp_ms')
    .executeTakeFirst()
  if (moved === undefined) throw timestampReused((await readTimestamp(transaction, key)) ?? timestamp)
}

async function assertPlace(database: Database, chainId: number, maxPerChain: number): Promise<void> {
  const { count } = await database
    .selectFrom('solvers')
    .select((select) => select.fn.countAll<number>().as('count'))
    .where('chain_id', '=', chainId)
    .executeTakeFirstOrThrow()
  if (count >= maxPerChain) throw solverLimitReached(maxPerChain)
}
