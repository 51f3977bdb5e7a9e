import { create } from '@bufbuild/protobuf'
import { expect, it } from 'vitest'
import { PairSummarySchema } from '../../../gen/aggregator/v1/chain_pb.js'
import { isOfPair, lastListedPair } from '../src/data/tokens/pairs.js'

const pair = (inputToken: string, lastUsed: bigint | undefined, changes = {}) =>
  create(PairSummarySchema, {
    inputToken,
    outputToken: 'b',
    destinationChainId: 1n,
    listed: true,
    ...(lastUsed !== undefined && { lastUsed }),
    ...changes,
  })

it('the first pair is the listed one that was traded last, with its output on the same chain', () => {
  const pairs = [
    pair('old', 5n),
    pair('never', undefined),
    pair('last', 9n),
    pair('unlisted', 20n, { listed: false }),
    pair('elsewhere', 30n, { destinationChainId: 2n }),
  ]
  expect(lastListedPair(pairs, 1n)?.inputToken).toBe('last')
  expect(lastListedPair(pairs.slice(3), 1n)).toBeUndefined()
})

it('a pair has a direction, and addresses in any letter case', () => {
  const order = { inputToken: '0xAb', outputToken: '0xCd' }
  expect([isOfPair(order, '0xaB', '0xcd'), isOfPair(order, '0xcd', '0xab')]).toEqual([true, false])
})
