import { bytesToHex, type Hex } from 'viem'
import { deployedSettlementBytecode } from '../../../gen/contracts/deployed-settlement.js'
import { settlementBytecode } from '../../../gen/contracts/settlement.js'
import { startAnvil } from '../../../packages/cli/src/devnet/anvil.js'
import { bondSolver, deploySettlement, devAccounts } from '../../../packages/cli/src/devnet/deploy.js'
import { quoteTypeHash } from '../../../packages/protocol/src/signing/typed-data.js'

export const [deployer, user, ...solverAccounts] = devAccounts

/** The reference contract, or the one with the rules of deployed contracts (`DeployedSettlement.sol`). */
export type Rules = 'reference' | 'deployed'

export const RULES: readonly Rules[] = ['reference', 'deployed']

/** The option of `deploySettlement`. */
export function bytecodeOf(rules: Rules): { bytecode?: Hex } {
  return rules === 'deployed' ? { bytecode: deployedSettlementBytecode } : {}
}

/** The reference contract for quotes of the type `<name>Quote`: it is compiled for `ServiceQuote`, and has the name in the type hash only. */
export function bytecodeNamed(name: string): Hex {
  const [compiled = '', wanted = ''] = ['Service', name].map((one) => bytesToHex(quoteTypeHash(one)).slice(2))
  const bytecode = settlementBytecode.replace(compiled, wanted) as Hex
  if (bytecode === settlementBytecode) throw new Error('the contract has no type hash')
  return bytecode
}

/** Covers outputs of up to 20 whole tokens of 18 decimals: the contract reserves 5% of an output. */
export const BOND = 10n ** 18n

export type TestChain = Awaited<ReturnType<typeof startChain>>

/**
 * A chain of its own with the contracts, and the first `bonded` of `solverAccounts` with a bond.
 * @param extraArgs further arguments of anvil's command line
 */
export async function startChain({
  chainId = 31337,
  bonded = 3,
  bond = BOND,
  extraArgs = [] as readonly string[],
  rules = 'reference' as Rules,
} = {}) {
  const anvil = await startAnvil({ chainId, extraArgs })
  const devnet = { rpcUrl: anvil.url, chainId }
  try {
    const contracts = await deploySettlement({ ...devnet, deployer, ...bytecodeOf(rules) })
    const domain = { name: 'Settlement', version: '1', chainId, verifyingContract: contracts.settlement }
    for (const solver of solverAccounts.slice(0, bonded)) {
      await bondSolver({ ...devnet, settlement: contracts.settlement, solver }, bond)
    }
    return { devnet, chainId, contracts, domain, stop: anvil.stop }
  } catch (error) {
    await anvil.stop()
    throw error
  }
}
