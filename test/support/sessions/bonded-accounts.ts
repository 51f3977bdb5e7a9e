import { generatePrivateKey, privateKeyToAccount } from 'viem/accounts'
import { bondSolver } from '../../../packages/cli/src/devnet/deploy.js'
import { BOND, type TestChain } from '../chain/chain.js'
import { createCalls } from '../chain/contract-calls.js'

/** Makes bonded solvers in addition to the chain's own accounts. */
export async function bondedAccounts({ devnet, contracts }: TestChain, count: number) {
  const { settlement } = contracts
  const { client } = createCalls(devnet, settlement)
  const accounts = Array.from({ length: count }, () => privateKeyToAccount(generatePrivateKey()))
  await Promise.all(
    accounts.map(async (solver) => {
      await client.setBalance({ address: solver.address, value: 10n ** 18n })
      await bondSolver({ ...devnet, settlement, solver }, BOND)
    }),
  )
  return accounts
}
