import type { Hex } from 'viem'
import { lowerCase } from '../../../src/domain/hex.js'
import type { Quote } from '../../../src/domain/quote.js'
import { type CancelBudget, createCancelBudget } from './cancel-budget.js'
import { type Cancellations, createCancellations } from './cancellations.js'
import { approveTokens } from './chain/approvals.js'
import { type ChainTime, readChainTime, readHead } from './chain/chain-time.js'
import { pollDeposits } from './chain/deposit-poller.js'
import { createHoldingsReader } from './chain/holdings.js'
import { failed, openChain, type SolverChain } from './chain/open-chain.js'
import { readBalance, readOrder } from './chain/orders.js'
import { createTransactionSender } from './chain/transactions.js'
import type { ChainParts, SolverParts } from './chain-parts.js'
import { createDepositAddresses } from './deposit-addresses.js'
import { createEnding, type Ending } from './ending.js'
import { endingShortage } from './ending-limits.js'
import type { SolverQuote } from './fillable-order.js'
import { createFilling, type Filling } from './filling.js'
import { createPayments, type Payments } from './payments.js'
import { type AskedQuote, createQuoteLedger } from './quote-ledger.js'
import type { ChainOptions } from './solver-options.js'
import { within } from './within.js'

/** A solver at work on one chain: what it has, what it has promised, and the orders that it pays. */
export type ChainRun = Awaited<ReturnType<typeof startChainRun>>

/** What a request says of its quote before it has a price. */
type AskedTerms = Pick<Quote, 'outputToken' | 'depositDeadline' | 'fillDeadline'> & {
  readonly isForAddress: boolean
}

/** Time for what is under way when the solver is closed. */
const CLOSING_MS = 1_000
/** Often, so that each time is short. */
const PRUNE_SECONDS = 60

/**
 * Connects to a chain, sends what a stopped process may have left unsent, and pays and ends from then on what it has left. It
 * quotes only after `prepare`.
 * @throws Error with the node's words, and Error for a chain or an account that does not fit
 */
export async function startChainRun(chainId: number, chainOptions: ChainOptions, shared: SolverParts) {
  const { state, clock, account, onError } = shared
  const chain = await openChain(chainId, chainOptions, shared.protocolName)
  const place = `chains[${chainId}].rpc must show its newest block`
  const time = await readChainTime(chain, clock).catch(failed(place))
  const solver = lowerCase(account.address)
  const payments = startPayments(chain, time, shared)
  const ledger = createQuoteLedger(chain.bondReservationBps, shared.limits)
  const addresses = createDepositAddresses(chain, solver, state, time)
  const readHoldings = createHoldingsReader(chain, solver, payments !== undefined, onError)
  for (const { signed, isForAddress } of state.keptQuotes(chainId)) ledger.add(signed, isForAddress)
  ledger.advance(time.passed())
  async function refresh() {
    const holdings = await readHoldings()
    ledger.update(holdings)
    addresses.see(holdings)
    return holdings
  }
  return run({ ...shared, chain, solver, time, ledger, addresses, payments, refresh })
}

async function run(parts: ChainParts) {
  const { chain, ledger, time, state, payments, addresses, onError } = parts
  const budget = createCancelBudget({ chain, state, now: time.passed, onSpent: onError })
  const cancellations =
    payments &&
    createCancellations({
      ...parts,
      payments,
      budget,
      countAbove: (nonces) => ending.countAbove(nonces),
      onEnd: () => ending.look(),
      onUnaffordable: (nonces) => ending.leaveOpen(nonces),
    })
  const filling = createFilling(parts, (nonce) => cancellations?.has(nonce) ?? false)
  const ending = createEnding(parts, filling, cancellations)
  // Their nonces must be taken before new ones are.
  await payments?.resume().catch(failed(`chains[${chain.chainId}].rpc must take transactions again`))
  cancellations?.resume()
  filling.resume()
  const following = follow(parts, filling, ending)
  const endingPause = watchEndings(parts, ending, budget, cancellations)
  let isPrepared = false

  return {
    chain,
    ledger,
    time,
    filling,
    /** Puts approvals in place, and reads what the solver has: only then it may quote. @throws Error with the node's words */
    async prepare(): Promise<void> {
      await prepare(parts)
      await cancellations?.learn()
      isPrepared = true
    },
    /** What is too low for a further quote. */
    shortageFor: (asked: AskedQuote) =>
      ledger.shortageFor(asked, {
        lockSeconds: asked.quote.fillDeadline - time.now(),
        keepsTokens: addresses.keepsTokens(),
      }),
    /** Why a quote may not be signed at present. @param asked its tokens are in lower case */
    pauseFor(asked: AskedTerms): string | undefined {
      if (!isPrepared) return 'the chain is not ready'
      if (time.isStale()) return 'the newest block is old'
      if (time.isBlind(chain.pollIntervalMs)) return 'the node does not answer'
      if (filling.hasMissed(asked.outputToken)) return 'an order in the output token was missed'
      if (asked.isForAddress && addresses.areDeclined())
        return 'a deposit address has cost a part of the bond'
      return endingPause(asked)
    },
    /** Keeps a quote, and watches its deposit address from now on. */
    addQuote(signed: SolverQuote, isForAddress: boolean): void {
      const dropped = ledger.add(signed, isForAddress)
      if (!dropped.includes(signed)) state.addQuote(signed, isForAddress)
      for (const { orderId } of dropped) state.dropQuote(orderId)
    },
    /** As `Solver.cancelQuotes`. */
    async cancelQuotes(selects: (signed: SolverQuote) => boolean = () => true) {
      const kept = [...ledger.quotes()].flatMap(({ signed }) => signed)
      return ending.cancel(kept.filter(selects))
    },
    /** An instance reports a deposit. Only the solver's own node decides whether there is one. */
    async hint(orderId: Hex): Promise<void> {
      const { state: reached, solver, fillDeadline } = await readOrder(chain, orderId)
      if (reached === 'DEPOSITED' && solver === parts.solver) filling.deposited(orderId, fillDeadline)
    },
    /** @returns when nothing runs any more, after the signal has aborted; or soon, when a node or a market maker does not answer */
    async idle(): Promise<void> {
      const ends = [following, filling.idle(), cancellations?.idle()]
      await within(parts.clock, CLOSING_MS, Promise.all(ends).catch(onError))
    },
  }
}

const PAUSES = {
  FEES: 'maxCancelFees of this hour might not pay for the end of what is open',
  BALANCE: 'the account cannot pay for the gas of what it has promised',
  TIME: 'a fill window is too short to end all that is open',
}

/** Builds what says whether a further quote could still be ended, and reports what is missing once. */
function watchEndings(
  { chain, ledger, solver, time, onError }: ChainParts,
  ending: Ending,
  budget: CancelBudget,
  cancellations: Cancellations | undefined,
) {
  let isPoor = false
  return (asked: AskedTerms): string | undefined => {
    const gas = ledger.gas()
    if (gas === undefined || cancellations === undefined) return undefined
    const shortage = endingShortage(ending.loadWith(asked), {
      gas,
      cancellationCost: cancellations.cost(),
      feesLeft: budget.left(),
      roundSeconds: time.blockSeconds() + chain.pollIntervalMs / 1000,
      atOnce: chain.maxPayments,
    })
    if (shortage === 'FEES') budget.report()
    if (shortage === 'BALANCE' && !isPoor)
      onError(
        new Error(
          `${solver} has ${gas.balance} wei on chain ${chain.chainId}, too little for the gas of open quotes and a payment: it does not quote`,
        ),
      )
    isPoor = shortage === 'BALANCE'
    return shortage && PAUSES[shortage]
  }
}

/** Follows the blocks of a chain, and does what is due at each. */
function follow(parts: ChainParts, filling: Filling, ending: Ending): Promise<void> {
  const { chain, state, ledger, time } = parts
  let nextPruning = 0
  return pollDeposits({
    ...parts,
    addresses: ledger.addresses,
    onDeposited: filling.deposited,
    async onTransfer(to) {
      const signed = ledger.at(to)
      if (signed === undefined) return
      const { quote, orderId, depositAddress } = signed
      // Transfers of nothing would make orders that hold up others.
      const balance = await readBalance(chain, quote.inputToken, depositAddress)
      if (balance >= quote.inputAmount) filling.deposited(orderId, quote.fillDeadline)
    },
    async onBlock(head) {
      time.see(head)
      ledger.advance(time.passed())
      // A look may wait for slow answers, and must not hold up the next block. Nothing that fails here may keep quotes from their end.
      ending.look(head)
      await parts.refresh()
      if (time.passed() < nextPruning) return
      nextPruning = time.passed() + PRUNE_SECONDS
      state.prune(chain.chainId, time.passed())
    },
  })
}

/** Undefined for an account that leaves its payments to `fill`. */
function startPayments(chain: SolverChain, time: ChainTime, shared: SolverParts): Payments | undefined {
  const { account, fill, log, metrics, state } = shared
  const { chainId } = chain
  if (account.signTransaction === undefined && fill !== undefined) {
    log.warn({ chainId }, 'the account signs no transactions: cancel unused quotes yourself')
    return undefined
  }
  /** The first nonce of the account after those of transactions whose end has not been seen. */
  const nonceAfterKept = () => (state.waitingPayments(chainId).at(-1)?.nonce ?? -1) + 1
  return createPayments({
    ...shared,
    chain,
    time,
    sender: createTransactionSender(chain, account, nonceAfterKept),
    onRaised(payment, transactionHash) {
      metrics.feesRaised++
      log.info({ chainId, payment, transactionHash }, 'fees raised')
    },
  })
}

/** What must be done before the solver quotes. */
async function prepare(parts: ChainParts): Promise<void> {
  const { chain, solver, payments, ledger, time } = parts
  if (payments !== undefined) await approveTokens(chain, solver, payments, parts)
  await parts.refresh().catch(failed(`chains[${chain.chainId}].rpc must show what ${solver} has`))
  time.see(await readHead(chain).catch(failed(`chains[${chain.chainId}].rpc must show its newest block`)))
  ledger.advance(time.passed())
}
