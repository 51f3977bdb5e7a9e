import type { BlockHeader } from '../domain/block.js'
import type { Hex } from '../domain/hex.js'

/** The last blocks known of a chain: the oldest first, each the parent of the next; never empty. */
export type LocalChain = readonly [BlockHeader, ...BlockHeader[]]

/** What a header means for a local chain. */
export type Step =
  /** It is a known block or older than all of them: nothing is new, or whoever said so lags behind. */
  | { readonly kind: 'known' }
  /** It is the next block. */
  | { readonly kind: 'append' }
  /** It is ahead of the next block: those `from` to `to` are to be placed first. */
  | { readonly kind: 'gap'; readonly from: number; readonly to: number }
  /** It follows a known block that is not the last one: those behind `ancestor` have left the chain. */
  | { readonly kind: 'reorganisation'; readonly ancestor: BlockHeader }
  /** It is on a fork whose beginning is not known yet: its parent is to be placed first. */
  | { readonly kind: 'fork'; readonly parentHash: Hex }
  /** It is on a fork that began before the oldest known block. */
  | { readonly kind: 'lost' }

/**
 * Says what the next header means for the blocks known so far.
 *
 * Cases, by the number of `next`:
 * - more than one above the last known block: `gap`, whatever its parent, since blocks between are missing;
 * - below the oldest known block, or its own hash is known: `peek`;
 * - one above the last known block, which is its parent: `append`;
 * - its parent is another known block: `reorganisation` with that ancestor;
 * - its parent is not known, and younger than the oldest known block: `fork`;
 * - otherwise its fork began before anything known: `lost`.
 *
 * Invariants for whoever drives this:
 * - following `append` with `[...chain, next]` and `reorganisation` with `[..., ancestor, next]` keeps the links;
 * - placing the missing blocks of a `gap` in order, or the parents of a `fork` until one is placed, ends in
 *   `append`, `reorganisation` or `lost`: each step is one block further, and the local chain is finite;
 * - the chain is changed by `append` and `reorganisation` only: what lags behind moves nothing.
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

/** The last block known. */
export function tipOf(chain: LocalChain): BlockHeader {
  return chain.at(-1) ?? chain[0]
}

/** The known block of a number. */
export function blockAt(chain: LocalChain, number: number): BlockHeader | undefined {
  return chain[number - chain[0].number]
}

/** The chain up to a block and no further; the block is one of it. */
export function truncateAfter(chain: LocalChain, block: BlockHeader): LocalChain {
  return [chain[0], ...chain.slice(1, block.number - chain[0].number + 1)]
}

/** The chain with blocks behind its last one, without the oldest beyond `maxLength`. */
export function extend(chain: LocalChain, blocks: readonly BlockHeader[], maxLength: number): LocalChain {
  const [first = chain[0], ...rest] = [...chain, ...blocks].slice(-maxLength)
  return [first, ...rest]
}
