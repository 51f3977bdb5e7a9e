import { afterAll, beforeAll, expect, test } from 'vitest'
import { startChain, type TestChain } from '../../support/chain/chain.js'
import { deployChattySettlement } from '../../support/chain/chatty-settlement.js'
import { expectedMessages } from '../../support/streams/event-messages.js'

let chain: TestChain

beforeAll(async () => {
  chain = await startChain({ bonded: 0 })
})
afterAll(() => chain?.stop())

test('the chatty contract emits as many events of each kind as requested, in as many blocks', async () => {
  const { address, emitEvents } = await deployChattySettlement(chain.devnet, chain.contracts.bondToken)
  const { fromBlock, toBlock } = await emitEvents({ events: 1000, eventsPerBlock: 300 })
  expect(toBlock - fromBlock + 1).toBe(4)
  const told = await expectedMessages({ ...chain, contracts: { settlement: address } }, fromBlock, toBlock)
  expect(new Set(told.map(({ orderId }) => orderId)).size).toBe(1000)
  expect([...new Set(told.map(({ type }) => type))].sort()).toEqual(['Deposited', 'Refunded', 'Settled'])
})
