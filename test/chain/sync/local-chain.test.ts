import { describe, expect, test } from 'vitest'
import type { BlockHeader } from '../../../packages/protocol/src/orders/block.js'
import {
  blockAt,
  extend,
  type LocalChain,
  reconcile,
  tipOf,
  truncateAfter,
} from '../../../src/chain/sync/local-chain.js'

/** A block of a branch. Its parent is on the same branch unless another one is given. */
function block(number: number, branch = 'a', parentBranch = branch): BlockHeader {
  return { number, hash: `0x${branch}${number}`, parentHash: `0x${parentBranch}${number - 1}` }
}

function blocks(from: number, to: number): BlockHeader[] {
  return Array.from({ length: to - from + 1 }, (_, index) => block(from + index))
}

function chainOf(from: number, to: number): LocalChain {
  return [block(from), ...blocks(from + 1, to)]
}

const chain = chainOf(10, 14)
const ofOneBlock = chainOf(10, 10)

describe('a block changes nothing when it is', () => {
  test.each(chain)('the known block $number', (known) => {
    expect(reconcile(chain, known)).toEqual({ kind: 'known' })
  })

  test.each([
    ['of the same branch', block(9)],
    ['of another branch', block(9, 'b')],
    ['of another branch, by far', block(0, 'b')],
  ])('below the oldest block, %s', (_which, older) => {
    expect(reconcile(chain, older)).toEqual({ kind: 'known' })
  })

  test('the only block, or one below it', () => {
    expect(reconcile(ofOneBlock, block(10))).toEqual({ kind: 'known' })
    expect(reconcile(ofOneBlock, block(9))).toEqual({ kind: 'known' })
  })

  test('below the oldest block, whatever parent it claims', () => {
    expect(reconcile(chain, { ...block(12), parentHash: '0xother' })).toEqual({ kind: 'known' })
  })
})

describe('a block after the last one', () => {
  test('is appended when the last one is its parent, whatever the name of its branch', () => {
    expect(reconcile(chain, block(15))).toEqual({ kind: 'append' })
    expect(reconcile(chain, block(15, 'b', 'a'))).toEqual({ kind: 'append' })
  })

  test('is on a fork when its parent is not known', () => {
    expect(reconcile(chain, block(15, 'b'))).toEqual({ kind: 'fork', parentHash: '0xb14' })
  })

  test('is lost when the only block is not its parent', () => {
    expect(reconcile(ofOneBlock, block(11, 'b'))).toEqual({ kind: 'lost' })
  })
})

describe('a block ahead of the next one leaves a gap', () => {
  test('of one block', () => {
    expect(reconcile(chain, block(16))).toEqual({ kind: 'gap', from: 15, to: 15 })
  })

  test('on another branch too, and whatever parent it claims', () => {
    expect(reconcile(chain, block(17, 'b'))).toEqual({ kind: 'gap', from: 15, to: 16 })
    const claimsLast = { ...block(16), parentHash: block(14).hash }
    expect(reconcile(chain, claimsLast)).toEqual({ kind: 'gap', from: 15, to: 15 })
  })
})

describe('a block on another branch', () => {
  test.each([11, 12, 13, 14])(
    'at %d is a reorganisation back to the known block that is its parent',
    (number) => {
      const ancestor = block(number - 1)
      expect(reconcile(chain, block(number, 'b', 'a'))).toEqual({ kind: 'reorganisation', ancestor })
    },
  )

  test.each([12, 13, 14, 15])('at %d with an unknown parent is on a fork', (number) => {
    expect(reconcile(chain, block(number, 'b'))).toEqual({ kind: 'fork', parentHash: `0xb${number - 1}` })
  })

  test.each([10, 11])('at %d is lost, because its parent would be older than all known blocks', (number) => {
    expect(reconcile(chain, block(number, 'b'))).toEqual({ kind: 'lost' })
  })

  test('in place of the oldest block is lost even with the same parent', () => {
    expect(reconcile(chain, block(10, 'b', 'a'))).toEqual({ kind: 'lost' })
  })

  test('does not follow a known block of another height that it claims as its parent', () => {
    const odd = { ...block(13, 'b'), parentHash: block(11).hash }
    expect(reconcile(chain, odd)).toEqual({ kind: 'fork', parentHash: block(11).hash })
  })
})

describe('the blocks of a chain', () => {
  test('have a last one, which may be the only one', () => {
    expect(tipOf(chain)).toEqual(block(14))
    expect(tipOf(ofOneBlock)).toEqual(block(10))
  })

  test('are found by number', () => {
    expect(blocks(10, 14).map(({ number }) => blockAt(chain, number))).toEqual(chain)
  })

  test.each([0, 8, 9, 15, 100])('do not include one with number %d', (number) => {
    expect(blockAt(chain, number)).toBeUndefined()
  })
})

describe('a truncation', () => {
  test.each([
    [10, ofOneBlock],
    [11, chainOf(10, 11)],
    [13, chainOf(10, 13)],
    [14, chain],
  ])('after %d leaves it and all before it', (number, rest) => {
    expect(truncateAfter(chain, block(number))).toEqual(rest)
  })

  test('after the only block leaves it', () => {
    expect(truncateAfter(ofOneBlock, block(10))).toEqual(ofOneBlock)
  })

  test('does not change the given chain', () => {
    truncateAfter(chain, block(11))
    expect(chain).toEqual(blocks(10, 14))
  })
})

describe('an extension', () => {
  test('adds blocks in order', () => {
    expect(extend(chain, [block(15), block(16)], 100)).toEqual(chainOf(10, 16))
  })

  test.each([
    [8, chainOf(10, 16)],
    [7, chainOf(10, 16)],
    [6, chainOf(11, 16)],
    [2, chainOf(15, 16)],
    [1, chainOf(16, 16)],
  ])('keeps at most the last %d blocks', (maxLength, expected) => {
    expect(extend(chain, [block(15), block(16)], maxLength)).toEqual(expected)
  })

  test('does not change the given chain', () => {
    extend(chain, [block(15)], 2)
    expect(chain).toEqual(blocks(10, 14))
  })
})
