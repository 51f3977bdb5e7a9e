import { sql } from 'kysely'
import type { DatabaseTransaction } from '../database.js'

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
