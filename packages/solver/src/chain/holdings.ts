import type { Address } from 'viem'
import { readView } from '../../../protocol/src/node/read-view.js'
import { settlementOf } from '../../../protocol/src/settlement/settlement-of-chain.js'
import { freeBondOf } from '../../../protocol/src/solvers/solver.js'
import { min, readMarket } from '../transactions/fees.js'
import type { ChainBasics } from './chain-basics.js'
import { type AtBlock, nameOf, readAllowance, readBalance } from './contract.js'

/** What a solver has on a chain. Amounts in the smallest unit. */
export type Holdings = Awaited<ReturnType<typeof readHoldings>>

/**
 * Reads what a solver has on a chain, all at the newest block, so that nothing is older than what is known already. A token that fails
 * counts as none, and is reported.
 * @throws viem's errors, and ChainReadError
 */
export async function readHoldings({ chain, solver, time, report }: ChainBasics) {
  const { client, settlement, tokens, chainId } = chain
  const at = time.atDepth(0)

  async function payableOf(token: Address): Promise<bigint> {
    const read = (block?: AtBlock) =>
      Promise.all([readBalance(chain, token, solver, block), readAllowance(chain, token, solver, block)])
    try {
      return min(...(await read(at)))
    } catch (cause) {
      // A node that does not have the block says nothing of the token.
      await read().then(
        () => Promise.reject(cause),
        () => {},
      )
      const what = `token ${token} on chain ${chainId} does not say what ${solver} has: it is not quoted`
      report(token, new Error(what, { cause }))
      return 0n
    }
  }

  const [bond, balance, { first, isCapped }] = await Promise.all([
    readView(client.request, settlement, settlementOf(chainId).bond(solver), nameOf(at)),
    client.getBalance({ address: solver, ...at }),
    readMarket(chain),
  ])
  // After it, so that a node that is down does not look like failing tokens.
  const payable = await Promise.all(
    [...tokens.keys()].map(async (token) => [token, await payableOf(token)] as const),
  )
  return {
    /** The block at which it was read. */
    blockNumber: at.blockNumber,
    /** By token in lower case: what the settlement contract could take, the lower one of balance and allowance. */
    payable: new Map(payable),
    /** Total less reserved and unstaking. */
    freeBond: freeBondOf(bond),
    /** With the reserved part. */
    totalBond: bond.total,
    /** The native coin in wei, and what a transaction pays at most at present, in wei for a unit of gas. */
    gas: { balance, maxFeePerGas: first.maxFeePerGas, isCapped },
  }
}
