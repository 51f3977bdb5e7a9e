import { afterAll, beforeAll, expect, test } from 'vitest'
import { createRpcClient } from '../../src/chain/rpc-client.js'
import { startChain, type TestChain } from '../support/chain/chain.js'

let chain: TestChain

beforeAll(async () => {
  chain = await startChain({ bonded: 0 })
})
afterAll(() => chain?.stop())

test('a client that is closed fails no call of another client to the same node', async () => {
  const closed = createRpcClient([chain.devnet.rpcUrl])
  const open = createRpcClient([chain.devnet.rpcUrl])
  const failed = closed.client.request({ method: 'eth_blockNumber' })
  const answered = open.client.request({ method: 'eth_blockNumber' })
  closed.close()
  await expect(failed).rejects.toThrow('the service is closing')
  expect(await answered).toMatch(/^0x/)
  open.close()
})
