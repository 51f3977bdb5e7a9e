import { decodeFunctionData } from 'viem'
import { expect, it } from 'vitest'
import { settlementAbi } from '../../../../gen/contracts/settlement.js'
import { isRefundable, type Order, refundCall } from '../../src/index.js'
import { ADDRESS, orderIdOf } from '../samples.js'

const settlement = '0xe7f1725E7734CE288F8367e1Bb143E90bb3F0512'
const order = {
  chainId: 1,
  orderId: orderIdOf(1),
  user: ADDRESS,
  solver: ADDRESS,
  inputToken: ADDRESS,
  inputAmount: 5n,
  outputToken: ADDRESS,
  outputAmount: 7n,
  outputChainId: 1,
  fillDeadline: 1900,
  isTerminal: undefined,
  isRefundable: undefined,
  deposited: undefined,
  settled: undefined,
  refunded: undefined,
}

it.each([
  ['DEPOSITED', 1900, false],
  ['DEPOSITED', 1901, true],
  ['SETTLED', 1901, false],
  ['REFUNDED', 1901, false],
  ['ECLIPSED', 1901, false],
])('an order that is %s at %i is refundable: %s', (state, now, expected) => {
  expect(isRefundable({ ...order, state }, now)).toBe(expected)
})

it('an order that the contract does not know, or whose deadline is unknown, is not refundable', () => {
  const none: Order = { state: 'NONE', chainId: 1, orderId: order.orderId }
  expect(isRefundable(none, 2 ** 40)).toBe(false)
  expect(isRefundable({ ...order, state: 'DEPOSITED', fillDeadline: undefined }, 2 ** 40)).toBe(false)
})

it('refundCall names the order, at the settlement contract in any letter case', () => {
  const { to, value, data } = refundCall(order, { settlement: settlement.toLowerCase() as typeof settlement })
  expect([to, value]).toEqual([settlement, 0n])
  expect(decodeFunctionData({ abi: settlementAbi, data })).toEqual({
    functionName: 'refund',
    args: [order.orderId],
  })
})
