import { lowerCase } from '../../../protocol/src/values/hex.js'
import { createBooks } from '../books.js'
import { createDepositAddresses } from '../risk/deposit-addresses.js'
import { createLosses } from '../risk/losses.js'
import { createQuoteLedger } from '../risk/quote-ledger.js'
import type { SolverParts } from '../solver-parts.js'
import { createPayments } from '../transactions/payments.js'
import { createTransactionSender } from '../transactions/transaction-sender.js'
import type { ChainBasics } from './chain-basics.js'
import { readChainTime } from './chain-time.js'
import { readHoldings } from './holdings.js'
import { failed, type SolverChain } from './open-chain.js'

/** What the parts of a chain use of each other. */
export type ChainParts = Awaited<ReturnType<typeof openParts>>

/** Opens what a solver has on a chain. @throws Error with the node's words, and for a state that is another solver's */
export async function openParts(chain: SolverChain, shared: SolverParts) {
  const { chainId, settlement } = chain
  const { state, clock, account, isDue, onError, signal } = shared
  const place = `chains[${chainId}].rpc must show its newest block`
  const time = await readChainTime(chain, clock).catch(failed(place))
  const solver = lowerCase(account.address)
  // What another account has signed, or for another contract, could not be ended here, and would be forgotten.
  const name = `signed on ${chainId}`
  const own = `by ${solver} for ${settlement}`
  const known = state.position(name) ?? own
  if (known !== own)
    throw new Error(`the stateFile has what was signed ${known} on chain ${chainId}, and not ${own}`)
  state.setPosition(name, own)

  function report(reason: string, error: unknown): void {
    if (!signal.aborted && isDue(`${chainId} ${reason}`)) onError(error)
  }
  const basics: ChainBasics = { ...shared, chain, solver, time, report }
  const sender = createTransactionSender(basics)
  const books = createBooks(basics)
  const payments = createPayments({ ...basics, books }, sender)
  const ledger = createQuoteLedger(basics)
  const addresses = createDepositAddresses(basics)
  const losses = createLosses(basics, ledger)
  for (const signed of state.openQuotes(chainId)) ledger.add(signed)
  /** Reads what the solver has, for the ledger. @throws viem's errors */
  const refresh = async () => ledger.update(await readHoldings(basics))
  return { ...basics, ledger, addresses, losses, books, payments, refresh }
}
