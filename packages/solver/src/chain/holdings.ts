import type { Address } from 'viem'
import { readView } from '../../../protocol/src/node/read-view.js'
import { settlementOf } from '../../../protocol/src/settlement/settlement-of-chain.js'
import { freeBondOf } from '../../../protocol/src/solvers/solver.js'
import type { Holdings } from '../risk/quote-ledger.js'
import { readAllowance } from '../transactions/approvals.js'
import { firstFees, min } from '../transactions/fees.js'
import type { ChainParts } from './chain-parts.js'
import type { SolverChain } from './open-chain.js'
import { readBalance } from './orders.js'

/**
 * Reads what a solver has on a chain. A token that fails counts as none, and is reported.
 * @throws viem's errors, and ChainReadError
 */
export async function readHoldings(
  chain: SolverChain,
  solver: Address,
  report: ChainParts['report'],
): Promise<Holdings> {
  const { client, settlement, tokens, chainId } = chain

  async function readGas() {
    const [balance, { maxFeePerGas }] = await Promise.all([
      client.getBalance({ address: solver }),
      firstFees(chain),
    ])
    return { balance, maxFeePerGas }
  }

  async function payableOf(token: Address): Promise<[Address, bigint]> {
    try {
      const [balance, allowance] = await Promise.all([
        readBalance(chain, token, solver),
        readAllowance(chain, token, solver),
      ])
      return [token, min(balance, allowance)]
    } catch (cause) {
      const what = `token ${token} on chain ${chainId} does not say what ${solver} has: it is not quoted`
      report(token, new Error(what, { cause }))
      return [token, 0n]
    }
  }

  const [bond, gas] = await Promise.all([
    readView(client.request, settlement, settlementOf(chainId).bond(solver)),
    readGas(),
  ])
  // After it, so that a node that is down does not look like failing tokens.
  const payable = await Promise.all([...tokens.keys()].map(payableOf))
  return { payable: new Map(payable), freeBond: freeBondOf(bond), totalBond: bond.total, gas }
}
