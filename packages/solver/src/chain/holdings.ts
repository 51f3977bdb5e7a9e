import type { Address } from 'viem'
import { readView } from '../../../protocol/src/node/read-view.js'
import { settlementOf } from '../../../protocol/src/settlement/settlement-of-chain.js'
import { freeBondOf } from '../../../protocol/src/solvers/solver.js'
import type { Holdings } from '../risk/quote-ledger.js'
import { readAllowance } from '../transactions/approvals.js'
import { min, readMarket } from '../transactions/fees.js'
import type { ChainBasics } from './chain-parts.js'
import { type AtBlock, nameOf, readBalance } from './contract.js'

/**
 * Reads what a solver has on a chain, all at the newest block, so that nothing is older than what is known already. A token that fails
 * counts as none, and is reported.
 * @throws viem's errors, and ChainReadError
 */
export async function readHoldings({ chain, solver, time, report }: ChainBasics): Promise<Holdings> {
  const { client, settlement, tokens, chainId } = chain
  const at = time.atDepth(0)

  async function payableOf(token: Address): Promise<[Address, bigint]> {
    const read = (block?: AtBlock) =>
      Promise.all([readBalance(chain, token, solver, block), readAllowance(chain, token, solver, block)])
    try {
      return [token, min(...(await read(at)))]
    } catch (cause) {
      // A node that does not have the block says nothing of the token.
      const isThere = await read().then(
        () => true,
        () => false,
      )
      if (isThere) throw cause
      const what = `token ${token} on chain ${chainId} does not say what ${solver} has: it is not quoted`
      report(token, new Error(what, { cause }))
      return [token, 0n]
    }
  }

  const [bond, balance, { first, isCapped }] = await Promise.all([
    readView(client.request, settlement, settlementOf(chainId).bond(solver), nameOf(at)),
    client.getBalance({ address: solver, ...at }),
    readMarket(chain),
  ])
  // After it, so that a node that is down does not look like failing tokens.
  const payable = await Promise.all([...tokens.keys()].map(payableOf))
  const gas = { balance, maxFeePerGas: first.maxFeePerGas, isCapped }
  return { ...at, payable: new Map(payable), freeBond: freeBondOf(bond), totalBond: bond.total, gas }
}
