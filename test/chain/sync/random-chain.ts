import { createModelChain, type ModelBlock } from '../../support/model-chain/model-chain.js'
import type { Random } from '../../support/random.js'
import { ANY_ORDERS, OTHER_CONTRACT, SETTLEMENT, word } from './any-orders.js'

/** One block of this number without events has no transactions. The others have another contract's log with the same words. */
const EMPTY_BLOCK_INTERVAL = 3

export type RandomChain = ReturnType<typeof createRandomChain>

/**
 * A model of a chain whose blocks have up to two events each, of orders of their own.
 * @param nullRounds how many numbers without a block may come before one
 */
export function createRandomChain(random: Random, nullRounds: number) {
  const model = createModelChain(ANY_ORDERS, SETTLEMENT, 0)
  let orders = 0

  function mine(): void {
    const events = random.integer(0, 2)
    for (let left = events; left > 0; left--) model.act(SETTLEMENT, SETTLEMENT, word(++orders))
    if (events > 0 || random.integer(1, EMPTY_BLOCK_INTERVAL) > 1)
      model.act(SETTLEMENT, OTHER_CONTRACT, word(orders))
    const skipped = random.integer(0, 3) === 0 ? random.integer(0, nullRounds) : 0
    model.mine(model.head().number + 1 + skipped, { skipped })
  }

  function grow(count: number): void {
    for (let left = count; left > 0; left--) mine()
  }

  /** The last block up to a number. */
  const upTo = (number: number) => model.blocks.findLast((block) => block.number <= number) as ModelBlock

  return {
    model,
    grow,
    upTo,
    /** Replaces this number of last blocks, at most all but the first, by at least as many others. */
    reorganise(depth: number): void {
      const removed = model.rollBack(Math.min(depth, model.blocks.length - 1))
      grow(removed.length + random.integer(0, 3))
    },
    /** The last block of a fork that begins after a block and never becomes the chain. */
    forkFrom(block: ModelBlock, length: number): ModelBlock {
      const removed = model.rollBack(model.blocks.filter(({ number }) => number > block.number).length)
      grow(length)
      const last = model.head()
      model.rollBack(length)
      model.restore(removed)
      return last
    },
    /** The orders of the events of some blocks. */
    ordersOf: (from: number, to: number) =>
      model.blocks
        .filter(({ number }) => number >= from && number <= to)
        .flatMap(({ receipts }) => receipts.flatMap(({ logs }) => logs))
        .flatMap(({ address, topics }) => (address === SETTLEMENT ? topics.slice(1, 2) : [])),
  }
}
