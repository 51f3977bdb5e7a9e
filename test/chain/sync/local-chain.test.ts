import { expect, test } from 'vitest'
import type { BlockHeader } from '../../../packages/protocol/src/orders/block.js'
import {
  extend,
  type LocalChain,
  reconcile,
  type Step,
  truncateAfter,
} from '../../../src/chain/sync/local-chain.js'

/** A block of a branch. Its parent is on the same branch unless another one is given. */
function block(number: number, branch = 'a', parentBranch = branch): BlockHeader {
  return { number, hash: `0x${branch}${number}`, parentHash: `0x${parentBranch}${number - 1}` }
}

const chainOf = (from: number, to: number): LocalChain => [
  block(from),
  ...Array.from({ length: to - from }, (_, index) => block(from + index + 1)),
]

const KNOWN: Step = { kind: 'known' }
const LOST: Step = { kind: 'lost' }
const fork = (parentHash: `0x${string}`): Step => ({ kind: 'fork', parentHash })
const backTo = (number: number): Step => ({ kind: 'reorganisation', ancestor: block(number) })

test.each<[string, BlockHeader, Step]>([
  ['the oldest block', block(10), KNOWN],
  ['the last block', block(14), KNOWN],
  ['a known block, whatever parent it claims', { ...block(12), parentHash: '0xother' }, KNOWN],
  ['an older block', block(9), KNOWN],
  ['the next block', block(15), { kind: 'append' }],
  ['the next block, whatever the name of its branch', block(15, 'b', 'a'), { kind: 'append' }],
  ['the next number on an unknown parent', block(15, 'b'), fork('0xb14')],
  ['two too many, on another branch', block(17, 'b'), { kind: 'gap', from: 15, to: 16 }],
  [
    'a block too many that claims the last one as its parent',
    { ...block(16), parentHash: block(14).hash },
    { kind: 'gap', from: 15, to: 15 },
  ],
  ['another last block', block(14, 'b', 'a'), backTo(13)],
  ['another block after the oldest one', block(11, 'b', 'a'), backTo(10)],
  ['another last block on an unknown parent', block(14, 'b'), fork('0xb13')],
  ['a block whose unknown parent may follow the oldest one', block(12, 'b'), fork('0xb11')],
  ['a block of which the oldest one is not the parent', block(11, 'b'), LOST],
  ['another oldest block', block(10, 'b'), LOST],
  [
    'a block that claims a known one of another height as its parent',
    { ...block(13, 'b'), parentHash: block(11).hash },
    fork(block(11).hash),
  ],
])('what a chain of the blocks 10 to 14 makes of %s', (_what, next, step) => {
  expect(reconcile(chainOf(10, 14), next)).toEqual(step)
})

test.each<[BlockHeader, Step]>([
  [block(9), KNOWN],
  [block(10), KNOWN],
  [block(11), { kind: 'append' }],
  [block(11, 'b'), LOST],
])('what a chain of block 10 alone makes of $hash', (next, step) => {
  expect(reconcile(chainOf(10, 10), next)).toEqual(step)
})

test.each([10, 11, 13, 14])('a truncation after %d leaves it and all before it', (number) => {
  const chain = chainOf(10, 14)
  expect(truncateAfter(chain, block(number))).toEqual(chainOf(10, number))
  expect(chain).toEqual(chainOf(10, 14))
})

test.each([
  [100, chainOf(10, 16)],
  [7, chainOf(10, 16)],
  [6, chainOf(11, 16)],
  [1, chainOf(16, 16)],
])('an extension keeps at most the last %d blocks', (maxLength, expected) => {
  const chain = chainOf(10, 14)
  expect(extend(chain, [block(15), block(16)], maxLength)).toEqual(expected)
  expect(chain).toEqual(chainOf(10, 14))
})
