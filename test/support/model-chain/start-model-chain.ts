import { type Abi, encodeFunctionData, getAddress, getContractAddress } from 'viem'
import { settlementAbi } from '../../../gen/contracts/settlement.js'
import { testTokenAbi } from '../../../gen/contracts/test-token.js'
import { MIN_ORDER } from '../../../packages/cli/src/devnet/deploy.js'
import type { Address } from '../../../packages/protocol/src/values/hex.js'
import { lowerCase } from '../../../packages/protocol/src/values/hex.js'
import { BOND, deployer, solverAccounts, type TestChain } from '../chain/chain.js'
import { startDevNode } from './dev-node.js'
import { createModelChain, type ModelChain } from './model-chain.js'
import { createModelContracts } from './model-contracts.js'

const NOBODY: Address = '0x0000000000000000000000000000000000000000'
const ABI: Abi = [...testTokenAbi, ...settlementAbi]

/** A chain with what it consists of. */
export interface ModelTestChain extends TestChain {
  readonly model: ModelChain
  /** Serves the same chain at another URL: a node that a test makes answer wrongly or not at all. */
  openNode(): ReturnType<typeof startDevNode>
}

/**
 * A chain as `startChain` starts it, with the same contracts at the same addresses, but as a model in this process: for tests
 * that judge the service and not a contract. `settlement-model.long.test.ts` compares the model with the compiled contract, and `dev-node.slow.test.ts` the node with anvil.
 */
export async function startModelChain({ chainId = 31337, bonded = 3 } = {}): Promise<ModelTestChain> {
  const [bondToken, settlement, weth, usdc] = [0n, 1n, 2n, 3n].map((nonce) =>
    getContractAddress({ from: deployer.address, nonce }),
  ) as [Address, Address, Address, Address]
  const contracts = createModelContracts({
    rules: 'reference',
    chainId,
    addresses: {
      settlement: lowerCase(settlement),
      bondToken: lowerCase(bondToken),
      tokens: { [lowerCase(weth)]: 0n, [lowerCase(usdc)]: 0n },
      metadata: {
        [lowerCase(bondToken)]: { symbol: 'bUSD', decimals: 6 },
        [lowerCase(weth)]: { symbol: 'WETH', decimals: 18 },
        [lowerCase(usdc)]: { symbol: 'USDC', decimals: 6 },
      },
    },
    depositProxyCodeHash: `0x${'c0de'.repeat(16)}`,
    minOrder: MIN_ORDER,
  })
  const now = Math.floor(Date.now() / 1000)
  // Everybody's transactions come without their signatures.
  const model = createModelChain(contracts, NOBODY, now)
  for (const { address } of solverAccounts.slice(0, bonded)) {
    const act = (to: Address, functionName: string, args: readonly unknown[]) =>
      model.act(lowerCase(address), lowerCase(to), encodeFunctionData({ abi: ABI, functionName, args }))
    act(bondToken, 'mint', [address, BOND])
    act(bondToken, 'approve', [settlement, BOND])
    act(settlement, 'registerSolver', [BOND])
  }
  model.mine(now)
  const { url, stop } = await startDevNode(model, chainId)
  return {
    devnet: { rpcUrl: url, chainId },
    chainId,
    model,
    openNode: () => startDevNode(model, chainId),
    contracts: { settlement, bondToken, weth, usdc },
    domain: { name: 'Settlement', version: '1', chainId, verifyingContract: getAddress(settlement) },
    stop,
  }
}
