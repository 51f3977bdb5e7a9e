import { toEventSelector } from 'viem'
import type { Address, Hex } from '../../../packages/protocol/src/values/hex.js'
import type { ModelContracts } from '../../support/model-chain/model-contracts.js'
import { only } from '../../support/only.js'

export const SETTLEMENT: Address = `0x${'5e'.repeat(20)}`
export const OTHER_CONTRACT: Address = `0x${'0c'.repeat(20)}`
const DEPOSITED = toEventSelector('Deposited(bytes32,address,address,address,uint256,address,uint256,uint32)')
const SETTLED = toEventSelector('Settled(bytes32,address,address)')

export const word = (number: number): Hex => `0x${number.toString(16).padStart(64, '0')}`

/** The answer to `orders(bytes32)`. @param state 2 is settled */
export const orderWith = (state: number): Hex =>
  `0x${[0, 0, 0, 1, 0, 1, 1, 1, state].map((value) => word(value).slice(2)).join('')}`

/**
 * Contracts without rules, for a model of a chain. A transaction whose data is the id of an order is an event of this order: of
 * its deposit when the id is odd, else of its settlement.
 */
export const ANY_ORDERS = only<ModelContracts>({
  transact(_context, address, orderId) {
    const isDeposit = Number(orderId) % 2 === 1
    const topics = [isDeposit ? DEPOSITED : SETTLED, orderId, word(1), word(2)]
    return { logs: [{ address, topics, data: isDeposit ? `0x${'00'.repeat(160)}` : '0x' }], steps: [] }
  },
  simulate: () => orderWith(2),
})
