import { decodeFunctionData } from 'viem'
import { expect, it } from 'vitest'
import { settlementAbi } from '../../../../gen/contracts/settlement.js'
import { refundCall } from '../../src/index.js'
import { orderIdOf } from '../samples.js'

const settlement = '0xe7f1725E7734CE288F8367e1Bb143E90bb3F0512'
const order = { orderId: orderIdOf(1) }

it('refundCall names the order, at the settlement contract', () => {
  const { to, value, data } = refundCall(order, { settlement })
  expect([to, value]).toEqual([settlement, 0n])
  expect(decodeFunctionData({ abi: settlementAbi, data })).toEqual({
    functionName: 'refund',
    args: [order.orderId],
  })
})
