import type { BlockHeader } from '../../../packages/protocol/src/orders/block.js'
import type { Hex } from '../../../packages/protocol/src/values/hex.js'

/** The last known blocks of a chain: the oldest first, each the parent of the next; never empty. */
export type LocalChain = readonly [BlockHeader, ...BlockHeader[]]

/** The meaning of a header for a local chain. */
export type Step =
  /** It is a known block or older than all of them: nothing is new, or its node lags. */
  | { readonly kind: 'known' }
  /** It is the next block. */
  | { readonly kind: 'append' }
  /** It is ahead of the next block: the blocks `from` to `to` come first. */
  | { readonly kind: 'gap'; readonly from: number; readonly to: number }
  /** It follows a known block that is not the last one: the blocks after `ancestor` have left the chain. */
  | { readonly kind: 'reorganisation'; readonly ancestor: BlockHeader }
  /** It is on a fork whose first block is not known yet: its parent comes first. */
  | { readonly kind: 'fork'; readonly parentHash: Hex }
  /** It is on a fork that began before the oldest known block. */
  | { readonly kind: 'lost' }

/**
 * Determines what the next header means for the known blocks.
 *
 * Cases, by the number of `next`:
 * - more than one above the last known block: `gap`, whatever its parent, since blocks between are missing;
 * - below the oldest known block, or its own hash is known: `known`;
 * - one above the last known block, which is its parent: `append`;
 * - its parent is another known block: `reorganisation` with that ancestor;
 * - its parent is not known, and younger than the oldest known block: `fork`;
 * - otherwise its fork began before the oldest known block: `lost`.
 *
 * Invariants for the caller:
 * - After `append`, `[...chain, next]` is linked. After `reorganisation`, `[..., ancestor, next]` is linked.
 * - The caller reconciles the missing blocks of a `gap` in order, or the parents of a `fork`. This ends in `append`,
 *   `reorganisation` or `lost`, because each step is one block further and the local chain is finite.
 * - Only `append` and `reorganisation` change the chain. A lagging node changes nothing.
 */
export function reconcile(chain: LocalChain, next: BlockHeader): Step {
  const oldest = chain[0]
  const last = tipOf(chain)
  if (next.number > last.number + 1) return { kind: 'gap', from: last.number + 1, to: next.number - 1 }
  if (next.number < oldest.number || blockAt(chain, next.number)?.hash === next.hash) return { kind: 'known' }
  const parent = blockAt(chain, next.number - 1)
  if (parent?.hash === next.parentHash) {
    return parent === last ? { kind: 'append' } : { kind: 'reorganisation', ancestor: parent }
  }
  return next.number - 1 > oldest.number ? { kind: 'fork', parentHash: next.parentHash } : { kind: 'lost' }
}

/** The last known block. */
export function tipOf(chain: LocalChain): BlockHeader {
  return chain.at(-1) ?? chain[0]
}

/** The known block with a number. */
export function blockAt(chain: LocalChain, number: number): BlockHeader | undefined {
  return chain[number - chain[0].number]
}

/** The chain up to and including one of its blocks. */
export function truncateAfter(chain: LocalChain, block: BlockHeader): LocalChain {
  return [chain[0], ...chain.slice(1, block.number - chain[0].number + 1)]
}

/** The chain with blocks added at its end, without the oldest beyond `maxLength`. */
export function extend(chain: LocalChain, blocks: readonly BlockHeader[], maxLength: number): LocalChain {
  const [first = chain[0], ...rest] = [...chain, ...blocks].slice(-maxLength)
  return [first, ...rest]
}
