import type { Address } from 'viem'
import type { Holdings } from '../quote-ledger.js'
import { readAllowance } from './approvals.js'
import type { SolverChain } from './open-chain.js'
import { readBalance } from './orders.js'
import { settlementAbi } from './settlement-abi.js'

/** Reads what a solver has on a chain. @throws viem's errors */
export async function readHoldings(chain: SolverChain, solver: Address): Promise<Holdings> {
  const { client, settlement, tokens } = chain
  const bondCall = {
    address: settlement,
    abi: settlementAbi,
    functionName: 'solvers',
    args: [solver],
  } as const
  const [[total, reserved, unstaking], ...payable] = await Promise.all([
    client.readContract(bondCall),
    ...[...tokens.keys()].map(async (token): Promise<[Address, bigint]> => {
      const [balance, allowance] = await Promise.all([
        readBalance(chain, token, solver),
        readAllowance(chain, token, solver),
      ])
      return [token, balance < allowance ? balance : allowance]
    }),
  ])
  const free = total - reserved - unstaking
  return { payable: new Map(payable), freeBond: free > 0n ? free : 0n, totalBond: total }
}
