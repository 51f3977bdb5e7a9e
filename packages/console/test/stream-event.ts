import type { OrderEvent } from '../src/data/stream-messages.js'

/** An event as the stream has it. */
export const eventOf = (changes: Partial<OrderEvent>): OrderEvent => ({
  type: 'Deposited',
  chainId: 1,
  orderId: '0xaa',
  blockNumber: 10,
  logIndex: 0,
  cursor: 'c',
  transactionHash: '0x01',
  blockTime: 1_700_000_011,
  ...changes,
})
