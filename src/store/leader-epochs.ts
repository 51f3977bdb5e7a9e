import { type Selectable, sql } from 'kysely'
import type { BlockHeader, ChainPosition } from '../domain/block.js'
import type { Address, Hex } from '../domain/hex.js'
import type { DatabaseTransaction } from './database.js'
import { insertInBatches } from './insert-in-batches.js'
import type { Schema } from './schema.js'

/** The epoch of a chain's leader, its fencing token. It ends when another leader begins the next one. */
export interface LeaderEpoch {
  readonly chainId: number
  readonly number: number
  /** The position that the previous leader stored; undefined when there was none. */
  readonly position: ChainPosition | undefined
}

/** The epoch has ended: another process is the chain's leader, and only that one may write its events. */
export class FencedError extends Error {
  override readonly name = 'FencedError'
}

/** Begins the next epoch of a chain, after the writes of the previous leader have been committed. */
export async function beginEpoch(transaction: DatabaseTransaction, chainId: number): Promise<LeaderEpoch> {
  const { epoch } = await transaction
    .insertInto('chain_leaders')
    .values({ chain_id: chainId, epoch: 1 })
    .onConflict((conflict) =>
      conflict.column('chain_id').doUpdateSet({ epoch: sql<number>`chain_leaders.epoch + 1` }),
    )
    .returning('epoch')
    .executeTakeFirstOrThrow()
  return { chainId, number: epoch, position: await readPosition(transaction, chainId) }
}

/**
 * Checks that an epoch is current, and keeps it current until the end of the transaction: a new leader waits that long.
 * @throws FencedError
 */
export async function assertEpoch(
  transaction: DatabaseTransaction,
  { chainId, number }: LeaderEpoch,
): Promise<void> {
  const held = await transaction
    .updateTable('chain_leaders')
    .set({ epoch: number })
    .where('chain_id', '=', chainId)
    .where('epoch', '=', number)
    .returning('epoch')
    .executeTakeFirst()
  if (held === undefined) throw new FencedError(`another process reads chain ${chainId} now`)
}

/** Adds blocks after the stored ones of a chain. */
export function insertHeaders(
  transaction: DatabaseTransaction,
  chainId: number,
  headers: readonly BlockHeader[],
): Promise<void> {
  const rows = headers.map(({ number, hash, parentHash }) => ({
    chain_id: chainId,
    number,
    hash,
    parent_hash: parentHash,
  }))
  return insertInBatches(rows, (part) => transaction.insertInto('chain_headers').values(part).execute())
}

async function readPosition(
  database: DatabaseTransaction,
  chainId: number,
): Promise<ChainPosition | undefined> {
  const position = await database
    .selectFrom('chain_positions')
    .selectAll()
    .where('chain_id', '=', chainId)
    .executeTakeFirst()
  if (position === undefined) return undefined
  const rows = await database
    .selectFrom('chain_headers')
    .selectAll()
    .where('chain_id', '=', chainId)
    .orderBy('number')
    .execute()
  const [first, ...rest] = rows.map(headerOf)
  if (first === undefined) throw new Error(`chain ${chainId} has a position and no block`)
  return {
    settlement: position.settlement as Address,
    firstBlock: position.first_block,
    headers: [first, ...rest],
  }
}

function headerOf({ number, hash, parent_hash }: Selectable<Schema['chain_headers']>): BlockHeader {
  return { number, hash: hash as Hex, parentHash: parent_hash as Hex }
}
