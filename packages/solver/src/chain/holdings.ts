import type { Address } from 'viem'
import { freeBondOf } from '../../../../src/domain/solvers/solver.js'
import { readView } from '../../../protocol/src/read-view.js'
import { settlementOf } from '../../../protocol/src/settlement-of-chain.js'
import type { Holdings } from '../quote-ledger.js'
import { readAllowance } from './approvals.js'
import { firstFees } from './fees.js'
import type { SolverChain } from './open-chain.js'
import { readBalance } from './orders.js'

/**
 * Builds a function that reads what a solver has on a chain, and throws the node's errors. A token that fails counts as none.
 * @param onError gets the first failure of a token, until it answers again
 */
export function createHoldingsReader(
  chain: SolverChain,
  solver: Address,
  onError: (error: unknown) => void,
): () => Promise<Holdings> {
  const { client, settlement, tokens, chainId } = chain
  const failing = new Set<Address>()

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
      failing.delete(token)
      return [token, balance < allowance ? balance : allowance]
    } catch (cause) {
      if (!failing.has(token))
        onError(
          new Error(`token ${token} on chain ${chainId} does not say what ${solver} has: it is not quoted`, {
            cause,
          }),
        )
      failing.add(token)
      return [token, 0n]
    }
  }

  return async () => {
    const [bond, gas] = await Promise.all([
      readView(client.request, settlement, settlementOf(chainId).bond(solver)),
      readGas(),
    ])
    // After it, so that a node that is down does not look like failing tokens.
    const payable = await Promise.all([...tokens.keys()].map(payableOf))
    return { payable: new Map(payable), freeBond: freeBondOf(bond), totalBond: bond.total, gas }
  }
}
