import type { Hex } from 'viem'
import { deployedSettlementBytecode } from '../../../gen/contracts/deployed-settlement.js'
import { startAnvil } from '../../../packages/cli/src/devnet/anvil.js'
import { bondSolver, deploySettlement, devAccounts } from '../../../packages/cli/src/devnet/deploy.js'

export const [deployer, user, ...solverAccounts] = devAccounts

/** The reference contract, or the one with the rules of deployed contracts (`DeployedSettlement.sol`). */
export type Rules = 'reference' | 'deployed'

export const RULES: readonly Rules[] = ['reference', 'deployed']

/** The option of `deploySettlement`. */
export function bytecodeOf(rules: Rules): { bytecode?: Hex } {
  return rules === 'deployed' ? { bytecode: deployedSettlementBytecode } : {}
}

/** Covers outputs of up to 20 whole tokens of 18 decimals: the contract reserves 5% of an output. */
export const BOND = 10n ** 18n

export type TestChain = Awaited<ReturnType<typeof startChain>>

/**
 * A chain of its own with the contracts, and the first `bonded` of `solverAccounts` bonded.
 * @param extraArgs further arguments of anvil's command line
 */
export async function startChain({
  chainId = 31337,
  bonded = 3,
  extraArgs = [] as readonly string[],
  rules = 'reference' as Rules,
} = {}) {
  const anvil = await startAnvil({ chainId, extraArgs })
  const devnet = { rpcUrl: anvil.url, chainId }
  try {
    const contracts = await deploySettlement({ ...devnet, deployer, ...bytecodeOf(rules) })
    const domain = { name: 'Settlement', version: '1', chainId, verifyingContract: contracts.settlement }
    for (const solver of solverAccounts.slice(0, bonded)) {
      await bondSolver({ ...devnet, settlement: contracts.settlement, solver }, BOND)
    }
    return { devnet, chainId, contracts, domain, stop: anvil.stop }
  } catch (error) {
    await anvil.stop()
    throw error
  }
}
