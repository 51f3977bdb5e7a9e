import { afterAll, beforeAll, expect, it } from 'vitest'
import { solverAccounts } from '../../support/chain/chain.js'
import { compileSource } from '../../support/chain/deploy-source.js'
import { type Market, startMarket } from '../../support/solver-kit/market.js'

const [account] = solverAccounts

let market: Market

beforeAll(async () => {
  market = await startMarket()
})
afterAll(() => market?.close())

it('an allowance of a token like USDT is raised by way of 0, and one that suffices stays', async () => {
  const { chainId, devnet, contracts } = market.chain
  const old = compileSource('OldToken')
  const token = await old.deploy(devnet)
  const [terms] = Object.values(market.solverOptions().chains)
  if (terms === undefined) throw new Error('no chain')
  const spent: [wanted: bigint, allowance: unknown, transactions: number][] = []
  for (const allowance of [100n, 200n, 150n, 0n]) {
    const before = await market.countTransactions(account)
    const solver = market.solver({
      chains: { [chainId]: { ...terms, tokens: [{ address: token, allowance }] } },
    })
    await solver.start()
    await solver.close()
    const args = [account.address, contracts.settlement] as const
    const call = { address: token, abi: old.abi, functionName: 'allowance', args } as const
    const transactions = (await market.countTransactions(account)) - before
    spent.push([allowance, await market.calls.client.readContract(call), transactions])
  }
  expect(spent).toEqual([
    [100n, 100n, 1],
    [200n, 200n, 2],
    [150n, 200n, 0],
    [0n, 200n, 0],
  ])
})
