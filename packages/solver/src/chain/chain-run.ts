import { type Address, numberToHex } from 'viem'
import { lowerCase } from '../../../protocol/src/values/hex.js'
import { createBooks } from '../books.js'
import { createEnding } from '../ending/ending.js'
import { createFilling } from '../orders/filling.js'
import { createDepositAddresses } from '../risk/deposit-addresses.js'
import { createLosses } from '../risk/losses.js'
import { createQuoteLedger } from '../risk/quote-ledger.js'
import type { IncomingRequest } from '../session/wire-forms.js'
import type { ChainSettings } from '../solver-options.js'
import type { SolverParts } from '../start-solver.js'
import { approveTokens } from '../transactions/approvals.js'
import { createPayments } from '../transactions/payments.js'
import { createTransactionSender } from '../transactions/transaction-sender.js'
import { within } from '../waiting.js'
import { type ChainTime, readChainTime, readHead } from './chain-time.js'
import { pollDeposits } from './deposit-poller.js'
import { readHoldings } from './holdings.js'
import { failed, readChain, type SolverChain } from './open-chain.js'
import { openNode } from './open-node.js'
import { inPlace } from './pacing.js'

/** A solver at work on one chain: what it has, what it has promised, and the orders that it pays. */
export type ChainRun = Awaited<ReturnType<typeof startChainRun>>

/** Time for what is under way when the solver is closed. */
const CLOSING_MS = 1_000
/** Fees above `maxFeePerGas` may make an approval wait for hours. */
const APPROVALS_MS = 60_000
const CALLS_AT_START = 100

/**
 * Connects to a chain, sends what a stopped process may have left unsent, and pays and ends from then on what it has left. It
 * quotes only after `prepare`.
 * @throws Error with the node's words, and Error for a chain or an account that does not fit
 */
export async function startChainRun(chainId: number, chainOptions: ChainSettings, shared: SolverParts) {
  const node = openNode(chainOptions.rpc, shared.clock)
  const { options, account } = shared
  try {
    const chain = await readChain(chainId, chainOptions, node, options.protocolName, account.address)
    return run(await openParts(chain, shared))
  } catch (error) {
    node.close()
    throw error
  }
}

function run(parts: ChainParts) {
  const { chain, state, time, payments, addresses, onError, report } = parts
  const filling = createFilling(parts)
  const ending = createEnding(parts, filling)
  payments.resume()
  ending.resume()
  filling.resume()
  const ended = pollDeposits(parts, filling, onBlock)
  let isLookingBack = false
  let isPrepared = false

  async function onBlock(): Promise<void> {
    // A look may wait for slow answers, and must not hold up the next block. Nothing that fails here may keep quotes from their end.
    ending.look()
    void inPlace('LATER', lookBack)
    await parts.refresh()
    state.prune(chain.chainId, time.passed())
  }

  /** What fails is looked at again at the next block. Orders come first: their payments are sent again by themselves. */
  async function lookBack(): Promise<void> {
    if (isLookingBack) return
    isLookingBack = true
    const onFailed = (error: unknown) => report('look back', error)
    await filling.lookBack().catch(onFailed)
    await payments.lookBack(ending.reopen).catch(onFailed)
    isLookingBack = false
  }

  return {
    ...parts,
    filling,
    ending,
    /**
     * Puts approvals in place, and reads what the solver has: only then it may quote. An approval that takes long goes on: it keeps no
     * other token waiting, and no other chain.
     * @throws Error with the node's words
     */
    async prepare(): Promise<void> {
      await learnPace(chain)
      await within(parts.clock, APPROVALS_MS, approveTokens(parts), () => {})
      // The approvals are in the newest blocks.
      time.see(await readHead(chain))
      await parts.refresh().catch(failed(`chains[${chain.chainId}].rpc must show what ${parts.solver} has`))
      await ending.learn()
      const fields = { chainId: chain.chainId, keepsTokens: addresses.known() ?? 'not known yet' }
      parts.log.info(fields, 'whether the contract keeps the tokens of cancelled quotes at their addresses')
      isPrepared = true
    },
    /** Why a quote may not be signed at present; without one, why none at all would be. */
    pauseFor: (asked?: IncomingRequest) => (isPrepared ? ending.pauseFor(asked) : 'the chain is not ready'),
    /** @returns when nothing runs any more, after the signal has aborted; or soon, when a node or a market maker does not answer */
    async idle(): Promise<void> {
      const ends = Promise.all([ended, filling.idle(), ending.idle()])
      await within<unknown>(parts.clock, CLOSING_MS, ends.catch(onError), () => {})
      chain.close()
    },
  }
}

/** Makes more calls at once than are ever needed: a node must not show its limit only when all orders are due. */
async function learnPace({ client }: SolverChain): Promise<void> {
  const addresses = Array.from({ length: CALLS_AT_START }, (_, index) => numberToHex(index + 1, { size: 20 }))
  await Promise.allSettled(addresses.map((address) => client.getBalance({ address })))
}

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

/** What all parts of a chain are built from. */
export interface ChainBasics extends SolverParts {
  readonly chain: SolverChain
  /** The account, in lower case. */
  readonly solver: Address
  readonly time: ChainTime
  /** Gives an error to `onError`, at most once a minute for each reason. */
  readonly report: (reason: string, error: unknown) => void
}
