import { numberToHex } from 'viem'
import { type Address, lowerCase } from '../../../protocol/src/values/hex.js'
import { createBooks } from '../books.js'
import { createEnding, type Ending } from '../ending/ending.js'
import { createOnceAMinute } from '../once-a-minute.js'
import { createFilling, type Filling } from '../orders/filling.js'
import type { QuotedOrder } from '../orders/order-terms.js'
import { createDepositAddresses } from '../risk/deposit-addresses.js'
import { quotedOf } from '../risk/exposure.js'
import { createLosses } from '../risk/losses.js'
import { type AskedQuote, createQuoteLedger } from '../risk/quote-ledger.js'
import type { IncomingRequest } from '../session/request-terms.js'
import type { ChainOptions } from '../solver-options.js'
import type { SolverParts } from '../solver-parts.js'
import type { SolverState } from '../state.js'
import { approveTokens } from '../transactions/approvals.js'
import { createPayments } from '../transactions/payments.js'
import { createTransactionSender } from '../transactions/transaction-sender.js'
import { within } from '../waiting.js'
import type { ChainParts } from './chain-parts.js'
import { readChainTime, readHead } from './chain-time.js'
import { pollDeposits } from './deposit-poller.js'
import { readHoldings } from './holdings.js'
import { failed, readChain, type SolverChain } from './open-chain.js'
import { openNode } from './open-node.js'
import { readBalance } from './orders.js'
import { inPlace } from './pacing.js'

/** A solver at work on one chain: what it has, what it has promised, and the orders that it pays. */
export type ChainRun = Awaited<ReturnType<typeof startChainRun>>

/** Which quotes are to be cancelled. */
type Selects = (quote: QuotedOrder) => boolean

/** Time for what is under way when the solver is closed. */
const CLOSING_MS = 1_000
/** Fees above `maxFeePerGas` may make an approval wait for hours. */
const APPROVALS_MS = 60_000
const CALLS_AT_START = 100
/** A quote that leaves time enough to end all others. */
const LONG_WINDOW = { depositDeadline: 0, fillDeadline: Number.POSITIVE_INFINITY, isForAddress: false }

/**
 * Connects to a chain, sends what a stopped process may have left unsent, and pays and ends from then on what it has left. It
 * quotes only after `prepare`.
 * @throws Error with the node's words, and Error for a chain or an account that does not fit
 */
export async function startChainRun(chainId: number, chainOptions: ChainOptions, shared: SolverParts) {
  const { close, ...node } = openNode(chainOptions.rpc, shared.clock)
  try {
    const { options, account } = shared
    const chain = await readChain(chainId, chainOptions, node, options.protocolName, account.address)
    return run(await openParts(chain, shared), close)
  } catch (error) {
    close()
    throw error
  }
}

async function openParts(chain: SolverChain, shared: SolverParts): Promise<ChainParts> {
  const { chainId } = chain
  const { state, clock, account, onError, signal } = shared
  const place = `chains[${chainId}].rpc must show its newest block`
  const time = await readChainTime(chain, clock).catch(failed(place))
  const solver = lowerCase(account.address)
  assertOwnState(state, chain, solver)
  const isDue = createOnceAMinute(clock)
  function report(reason: string, error: unknown): void {
    if (!signal.aborted && isDue(reason)) onError(error)
  }
  const nonceAfterKept = () => (state.keptPayments(chainId).at(-1)?.nonce ?? -1) + 1
  const deepBlock = () => time.atDepth().blockNumber
  const sender = createTransactionSender(chain, account, nonceAfterKept, deepBlock)
  const books = createBooks({ ...shared, chainId, time })
  const payments = createPayments({ ...shared, chain, time, report, books }, sender)
  const ledger = createQuoteLedger(chain.bondReservationBps, shared.options, time.passed, state)
  const addresses = createDepositAddresses(chain, solver, state, time)
  const losses = createLosses(chainId, state, ledger, time)
  for (const signed of state.openQuotes(chainId)) ledger.add(signed)
  let turns = 0
  let known = 0
  async function refresh() {
    const turn = ++turns
    const holdings = await readHoldings(chain, solver, time.atDepth(0), report)
    // An earlier one may take longer than a later one.
    if (turn < known) return
    known = turn
    ledger.update(holdings)
  }
  return { ...shared, chain, solver, time, ledger, addresses, losses, books, payments, report, refresh }
}

/** What another account has signed, or for another contract, could not be ended here, and would be forgotten. @throws Error for that */
function assertOwnState(state: SolverState, { chainId, settlement }: SolverChain, solver: Address): void {
  const name = `signed on ${chainId}`
  const own = `by ${solver} for ${settlement}`
  const known = state.position(name) ?? own
  if (known !== own)
    throw new Error(`the stateFile has what was signed ${known} on chain ${chainId}, and not ${own}`)
  state.setPosition(name, own)
}

/** @param close closes the connections to the node */
function run(parts: ChainParts, close: () => void) {
  const { chain, ledger, time, payments, addresses, losses, onError, report } = parts
  const filling = createFilling(parts, (nonce) => ending.isCancelling(nonce))
  const ending = createEnding(parts, filling)
  payments.resume()
  ending.resume()
  filling.resume()
  const ended = follow(parts, filling, ending)
  let isPrepared = false
  let timesCancelled = 0

  function pause(): string | undefined {
    if (!isPrepared) return 'the chain is not ready'
    const isBlind = time.isBlind(chain.pollIntervalMs)
    if (isBlind) report('blind', new Error(`the node of chain ${chain.chainId} does not answer`))
    if (time.isStale()) return 'the newest block is old'
    return isBlind ? 'the node does not answer' : undefined
  }

  return {
    chain,
    ledger,
    time,
    filling,
    books: parts.books,
    /**
     * Puts approvals in place, and reads what the solver has: only then it may quote. An approval that takes long goes on: it keeps no
     * other token waiting, and no other chain.
     * @throws Error with the node's words
     */
    async prepare(): Promise<void> {
      await learnPace(chain)
      await within(parts.clock, APPROVALS_MS, approveTokens(chain, parts.solver, payments, parts))
      // The approvals are in the newest blocks.
      time.see(await readHead(chain))
      await parts.refresh().catch(failed(`chains[${chain.chainId}].rpc must show what ${parts.solver} has`))
      await ending.learn()
      const fields = { chainId: chain.chainId, keepsTokens: addresses.known() ?? 'not known yet' }
      parts.log.info(fields, 'whether the contract keeps the tokens of cancelled quotes at their addresses')
      isPrepared = true
    },
    /** What is too low for a further quote. */
    shortageFor: (asked: AskedQuote) =>
      ledger.shortageFor(
        asked,
        asked.quote.fillDeadline - time.now(),
        addresses.keepsTokens(),
        losses.ofDay(),
      ),
    /** Why no quote at all would be signed at present. */
    pause: () => pause() ?? ending.pauseFor(LONG_WINDOW),
    /** Why a quote may not be signed at present. */
    pauseFor(asked: IncomingRequest): string | undefined {
      const why = pause()
      if (why !== undefined) return why
      if (losses.hasMissed(asked))
        return 'missed orders in the output token have cost too much, or were of this user'
      if (asked.isForAddress && losses.areAddressesDeclined())
        return 'a deposit address has cost a part of the bond'
      return ending.pauseFor(asked)
    },
    /** How often `cancelQuotes` was called: an offer that was priced or signed meanwhile is not sent. */
    timesCancelled: () => timesCancelled,
    /** As `Solver.cancelQuotes`. */
    async cancelQuotes(selects: Selects = () => true) {
      timesCancelled++
      const kept = [...ledger.quotes()].flatMap(({ signed }) => signed)
      // A promise selects nothing: it is true at once.
      return ending.cancel(kept.filter((signed) => selects(quotedOf(signed)) === true))
    },
    /** @returns when nothing runs any more, after the signal has aborted; or soon, when a node or a market maker does not answer */
    async idle(): Promise<void> {
      const ends = [ended, filling.idle(), ending.idle()]
      await within(parts.clock, CLOSING_MS, Promise.all(ends).catch(onError))
      close()
    },
  }
}

/** Makes more calls at once than are ever needed: a node must not show its limit only when all orders are due. */
async function learnPace({ client }: SolverChain): Promise<void> {
  const addresses = Array.from({ length: CALLS_AT_START }, (_, index) => numberToHex(index + 1, { size: 20 }))
  await Promise.allSettled(addresses.map((address) => client.getBalance({ address })))
}

/** Follows the blocks of a chain, and does what is due at each. */
function follow(parts: ChainParts, filling: Filling, ending: Ending): Promise<void> {
  const { chain, state, ledger, time, payments } = parts
  let isLookingBack = false

  /** What fails is looked at again at the next block. Orders come first: their payments are sent again by themselves. */
  async function lookBack(): Promise<void> {
    if (isLookingBack) return
    isLookingBack = true
    const onFailed = (error: unknown) => parts.report('look back', error)
    await filling.lookBack().catch(onFailed)
    await payments.lookBack(ending.reopen).catch(onFailed)
    isLookingBack = false
  }

  return pollDeposits({
    ...parts,
    addresses: ledger.addresses,
    inputTokens: () => [...new Set([...ledger.quotes()].map(({ quote }) => quote.inputToken))],
    onDeposited: filling.deposited,
    onSettled: filling.settled,
    async onTransfer(to, transactionHash) {
      const signed = ledger.at(to)
      if (signed === undefined) return
      const { quote, orderId, depositAddress } = signed
      // Transfers of nothing would make orders that hold up others.
      const balance = await readBalance(chain, quote.inputToken, depositAddress)
      if (balance >= quote.inputAmount) filling.deposited(orderId, quote.fillDeadline, { transactionHash })
    },
    async onBlock() {
      // A look may wait for slow answers, and must not hold up the next block. Nothing that fails here may keep quotes from their end.
      ending.look()
      void inPlace('LATER', lookBack)
      await parts.refresh()
      state.prune(chain.chainId, time.passed())
    },
  })
}
