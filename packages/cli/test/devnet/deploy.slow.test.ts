import { afterEach, describe, expect, it } from 'vitest'
import { testTokenAbi } from '../../../../gen/contracts/test-token.js'
import { createCalls } from '../../../../test/support/chain/contract-calls.js'
import { type Anvil, startAnvil } from '../../src/devnet/anvil.js'
import { bondSolver, createDevnetClient, deploySettlement, devAccounts } from '../../src/devnet/deploy.js'

const [deployer, solver] = devAccounts
const running: Anvil[] = []

async function startDevnet(chainId?: number) {
  const anvil = await startAnvil(chainId === undefined ? {} : { chainId })
  running.push(anvil)
  return { rpcUrl: anvil.url, chainId: anvil.chainId }
}

afterEach(async () => {
  await Promise.all(running.splice(0).map((anvil) => anvil.stop()))
})

describe('devAccounts', () => {
  it('has the accounts that anvil funds', async () => {
    const client = createDevnetClient(await startDevnet(), deployer)
    const balances = await Promise.all(devAccounts.map(({ address }) => client.getBalance({ address })))
    expect(balances).toEqual(devAccounts.map(() => 10_000n * 10n ** 18n))
  })
})

describe('deploySettlement', () => {
  it('deploys the same addresses on every fresh chain', async () => {
    const first = await deploySettlement({ ...(await startDevnet()), deployer })
    const second = await deploySettlement({ ...(await startDevnet(10)), deployer })
    expect(second).toEqual(first)
    expect(new Set(Object.values(first)).size).toBe(4)
  })

  it('deploys a contract with the given minimum order', async () => {
    const devnet = await startDevnet()
    const { settlement } = await deploySettlement({ ...devnet, deployer, minOrder: 7n })
    expect(await createCalls(devnet, settlement).view.MIN_ORDER()).toBe(7n)
  })

  it('deploys tokens with names, symbols and decimals', async () => {
    const devnet = await startDevnet()
    const { bondToken, weth, usdc } = await deploySettlement({ ...devnet, deployer })
    const client = createDevnetClient(devnet, deployer)
    const described = (address: typeof weth) =>
      Promise.all(
        (['name', 'symbol', 'decimals'] as const).map((functionName) =>
          client.readContract({ abi: testTokenAbi, address, functionName }),
        ),
      )
    expect(await described(bondToken)).toEqual(['Bond USD', 'bUSD', 6])
    expect(await described(weth)).toEqual(['Wrapped Ether', 'WETH', 18])
    expect(await described(usdc)).toEqual(['USD Coin', 'USDC', 6])
  })
})

describe('bondSolver', () => {
  it('registers the solver with a bond of the given amount', async () => {
    const devnet = await startDevnet()
    const { settlement } = await deploySettlement({ ...devnet, deployer })
    await bondSolver({ ...devnet, settlement, solver }, 1234_000000n)
    const { view } = createCalls(devnet, settlement)
    expect(await view.solvers([solver.address])).toEqual([1234_000000n, 0n, 0n, 0, true])
  })

  it('fails when the amount is below the minimum', async () => {
    const devnet = await startDevnet()
    const { settlement } = await deploySettlement({ ...devnet, deployer })
    await expect(bondSolver({ ...devnet, settlement, solver }, 999_999999n)).rejects.toThrow(
      'BondBelowMinimum',
    )
  })
})
