import type { Selectable } from 'kysely'
import { sql } from 'kysely'
import type { BlockHeader, ChainPosition } from '../../../packages/protocol/src/orders/block.js'
import type { Address, Hex } from '../../../packages/protocol/src/values/hex.js'
import { type DatabaseTransaction, forEachBatch } from '../database.js'
import type { Schema } from '../schema.js'

/** The stored position of a chain; undefined before the chain's first leader has set one. */
export async function readPosition(
  transaction: DatabaseTransaction,
  chainId: number,
): Promise<ChainPosition | undefined> {
  const position = await transaction
    .selectFrom('chain_positions')
    .selectAll()
    .where('chain_id', '=', chainId)
    .executeTakeFirst()
  if (position === undefined) return undefined
  const rows = await transaction
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

/** Sets the settlement contract of a chain, and the first block whose events are published. */
export async function setStart(
  transaction: DatabaseTransaction,
  chainId: number,
  settlement: Address,
  firstBlock: number,
): Promise<void> {
  const start = { settlement, first_block: firstBlock }
  await transaction
    .insertInto('chain_positions')
    .values({ chain_id: chainId, ...start })
    .onConflict((conflict) => conflict.column('chain_id').doUpdateSet(start))
    .execute()
}

/** Replaces all stored blocks of a chain by one. */
export async function replaceHeaders(
  transaction: DatabaseTransaction,
  chainId: number,
  header: BlockHeader,
): Promise<void> {
  await transaction.deleteFrom('chain_headers').where('chain_id', '=', chainId).execute()
  await insertHeaders(transaction, chainId, [header])
}

/** Adds blocks after the stored ones of a chain, and removes those below the number `keepFrom`. */
export async function appendHeaders(
  transaction: DatabaseTransaction,
  chainId: number,
  headers: readonly BlockHeader[],
  keepFrom: number,
): Promise<void> {
  await insertHeaders(transaction, chainId, headers)
  await transaction
    .deleteFrom('chain_headers')
    .where('chain_id', '=', chainId)
    .where('number', '<', keepFrom)
    .execute()
}

/** Removes the blocks after `ancestor`, which becomes the last one. */
export async function revertHeaders(
  transaction: DatabaseTransaction,
  chainId: number,
  ancestor: BlockHeader,
): Promise<void> {
  await transaction
    .deleteFrom('chain_headers')
    .where('chain_id', '=', chainId)
    .where('number', '>=', ancestor.number)
    .execute()
  await insertHeaders(transaction, chainId, [ancestor])
}

function insertHeaders(
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
  return forEachBatch(rows, (part) => transaction.insertInto('chain_headers').values(part).execute())
}

function headerOf({ number, hash, parent_hash }: Selectable<Schema['chain_headers']>): BlockHeader {
  return { number, hash: hash as Hex, parentHash: parent_hash as Hex }
}

/**
 * The permission of a chain's leader to write. Each write checks it in its transaction, because a former leader that was
 * frozen or unreachable may not know yet that it leads no more.
 */
export interface FencingToken {
  readonly chainId: number
  /** The number of the chain's leaders so far. Only the last one may write. */
  readonly epoch: number
}

/** Another process has a later token. It is the chain's leader now, and only it may write the chain's events. */
export class FencedError extends Error {
  override readonly name = 'FencedError'
}

/** Issues the next token of a chain, after the writes of the previous leader have been committed. */
export async function issueToken(transaction: DatabaseTransaction, chainId: number): Promise<FencingToken> {
  const { epoch } = await transaction
    .insertInto('chain_leaders')
    .values({ chain_id: chainId, epoch: 1 })
    .onConflict((conflict) =>
      conflict.column('chain_id').doUpdateSet({ epoch: sql<number>`chain_leaders.epoch + 1` }),
    )
    .returning('epoch')
    .executeTakeFirstOrThrow()
  return { chainId, epoch }
}

/**
 * Checks that a token is the last one, and keeps it the last until the end of the transaction: a new leader waits that long.
 * @throws FencedError
 */
export async function assertLastToken(
  transaction: DatabaseTransaction,
  { chainId, epoch }: FencingToken,
): Promise<void> {
  const held = await transaction
    .updateTable('chain_leaders')
    .set({ epoch })
    .where('chain_id', '=', chainId)
    .where('epoch', '=', epoch)
    .returning('epoch')
    .executeTakeFirst()
  if (held === undefined) throw new FencedError(`another process reads chain ${chainId} now`)
}
