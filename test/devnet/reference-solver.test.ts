import { maxUint256 } from 'viem'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { devAccounts } from '../../src/devnet/deploy.js'
import { type ReferenceSolver, startReferenceSolver } from '../../src/devnet/reference-solver.js'
import { startChain, type TestChain, user } from '../support/chain/chain.js'

let chain: TestChain
let solver: ReferenceSolver

beforeAll(async () => {
  chain = await startChain({ bonded: 0 })
  const { weth, usdc, settlement } = chain.contracts
  solver = await startReferenceSolver({
    ...chain.devnet,
    account: devAccounts[1],
    name: 'Aldous',
    settlement,
    tokens: [
      { address: weth, decimals: 18, priceMicros: 2_500_000_000n },
      { address: usdc, decimals: 6, priceMicros: 1_000_000n },
    ],
    spreadBps: 5n,
    protocolName: 'Service',
    transport: { usualPort: 0 },
    onError: () => {},
  })
})

afterAll(async () => {
  await solver?.close()
  await chain?.stop()
})

async function ask(orderType: string, amount: bigint, isReversed = false): Promise<number> {
  const { weth, usdc } = chain.contracts
  const [inputToken, outputToken] = isReversed ? [usdc, weth] : [weth, usdc]
  const response = await fetch(`${solver.endpointUrl}/quote`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({
      ...{ inputToken, outputToken, orderType, amount: amount.toString(), userAddress: user.address },
      ...{ chainId: chain.chainId, destinationChainId: chain.chainId, depositMode: 'CONTRACT' },
      ...{ depositDeadline: 2_000_000_000, fillDeadline: 2_000_000_120 },
    }),
  })
  return response.status
}

it('the reference solver answers an amount that it can price', async () => {
  expect(await ask('EXACT_INPUT', 10n ** 18n)).toBe(200)
})

it.each([
  ['an input above 2^256-1', 'EXACT_OUTPUT', maxUint256, false],
  ['an output above 2^256-1', 'EXACT_INPUT', maxUint256, true],
  ['an output of 0', 'EXACT_INPUT', 1n, false],
  ['an input of 0', 'EXACT_INPUT', 0n, false],
])('the reference solver declines an amount that gives %s', async (_, orderType, amount, isReversed) => {
  expect(await ask(orderType, amount, isReversed)).toBe(422)
})
