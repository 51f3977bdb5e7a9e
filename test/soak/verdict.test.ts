import { describe, expect, test } from 'vitest'
import type { EventMessage, StreamMessage } from '../support/streams/event-messages.js'
import { judge } from './verdict.js'

const settled = (number: number): EventMessage => ({
  type: 'Settled',
  chainId: 1,
  orderId: `0x${number}`,
  blockNumber: number,
  user: '0xd',
  solver: '0xe',
  transactionHash: `0x7a${number}`,
  logIndex: 0,
  blockTime: 1_700_000_000,
})
const reverted = (message: EventMessage): StreamMessage => {
  const { chainId, orderId, blockNumber, transactionHash, logIndex, blockTime } = message
  const position = { blockNumber, transactionHash, logIndex, blockTime }
  return { type: 'Reverted', event: 'Settled', chainId, orderId, ...position }
}
const [first, second, third] = [settled(1), settled(2), settled(3)]
const chain = [first, second, third]
const RIGHT = { lost: 0, doubled: 0, misordered: 0, late: 0 }

describe("the comparison of a subscriber's events with the chain", () => {
  test('finds nothing when both are equal', () => {
    expect(judge(chain, chain)).toEqual(RIGHT)
    expect(judge([first, second, reverted(second), second, third], chain)).toEqual(RIGHT)
  })

  test('finds a missing event', () => {
    expect(judge([first, third], chain)).toEqual({ ...RIGHT, lost: 1 })
    expect(judge([first, second, third, reverted(third)], chain)).toEqual({ ...RIGHT, lost: 1 })
  })

  test('finds an event that came twice, or that is no longer on the chain', () => {
    expect(judge([first, second, second, third], chain)).toEqual({ ...RIGHT, doubled: 1 })
    expect(judge([first, second, third], [first, second])).toEqual({ ...RIGHT, doubled: 1 })
  })

  test('finds events in another order', () => {
    expect(judge([second, first, third], chain)).toEqual({ ...RIGHT, late: 1 })
    expect(judge([first, second, reverted(first), third], chain)).toEqual({ ...RIGHT, misordered: 1 })
  })
})
