import type { Address, Hex } from 'viem'
import type { Clock } from '../../../src/clock.js'
import { lowerCase } from '../../../src/domain/hex.js'
import { createCancelBudget } from './cancel-budget.js'
import { createCancellations } from './cancellations.js'
import { approveTokens } from './chain/approvals.js'
import { type ChainTime, readChainTime, readHead } from './chain/chain-time.js'
import { pollDeposits } from './chain/deposit-poller.js'
import { createHoldingsReader } from './chain/holdings.js'
import { failed, openChain, type SolverChain } from './chain/open-chain.js'
import { readBalance, readOrder } from './chain/orders.js'
import { createTransactionSender } from './chain/transactions.js'
import { createDepositAddresses, type DepositAddresses } from './deposit-addresses.js'
import { type CancelledQuote, createEnding, type Ending } from './ending.js'
import type { FilledOrder, SolverQuote } from './fillable-order.js'
import { createFilling, type EndedOrder, type Filling } from './filling.js'
import { lacksGas } from './gas-reserve.js'
import type { SolverMetrics } from './metrics.js'
import { createPayments, type Payments } from './payments.js'
import {
  type AskedQuote,
  createQuoteLedger,
  type Holdings,
  isPrice,
  type QuoteLedger,
  type RiskLimits,
  type Shortage,
} from './quote-ledger.js'
import type { ChainOptions, SolverAccount, SolverLog, SolverOptions } from './solver-options.js'
import type { SolverState } from './state.js'

/** A solver at work on one chain: what it has, what it has promised, and the orders that it pays. */
export interface ChainRun {
  readonly chain: SolverChain
  readonly ledger: QuoteLedger
  readonly time: ChainTime
  readonly filling: Filling
  /** Puts approvals in place, and reads what the solver has: only then it may quote. @throws Error with the node's words */
  prepare(): Promise<void>
  /** What is too low for a further quote. */
  shortageFor(asked: AskedQuote): Shortage | undefined
  /** Why a quote may not be signed at present. @param asked its output token in lower case, and whether it is for a deposit address */
  pauseFor(asked: { readonly outputToken: Address; readonly isForAddress: boolean }): string | undefined
  /** Keeps a quote, and watches its deposit address from now on. */
  addQuote(signed: SolverQuote, isForAddress: boolean): void
  /** As `Solver.cancelQuotes`. */
  cancelQuotes(selects?: (signed: SolverQuote) => boolean): Promise<CancelledQuote[]>
  /** An instance reports a deposit. Only the solver's own node decides whether there is one. */
  hint(orderId: Hex): Promise<void>
  /** @returns when nothing runs any more, after the signal has aborted; or soon, when a node or a market maker does not answer */
  idle(): Promise<void>
}

/** What the chains of a solver share. */
export interface SharedOptions {
  readonly account: SolverAccount
  readonly protocolName: string
  readonly limits: RiskLimits
  readonly clock: Clock
  readonly state: SolverState
  readonly metrics: SolverMetrics
  readonly log: SolverLog
  readonly fill: SolverOptions['fill']
  readonly acceptLess: SolverOptions['acceptLess']
  readonly onFilled: (order: FilledOrder) => void
  readonly onError: (error: unknown) => void
  readonly signal: AbortSignal
}

/** The parts of a chain that the others use. */
interface ChainParts extends SharedOptions {
  readonly chain: SolverChain
  readonly solver: Hex
  readonly ledger: QuoteLedger
  readonly time: ChainTime
  readonly addresses: DepositAddresses
  readonly payments: Payments | undefined
  /** @throws viem's errors */
  readonly readHoldings: () => Promise<Holdings>
  /** Until when quotes are declined after a missed order, by output token in lower case. Unix seconds of the chain. */
  readonly missed: Map<Address, number>
}

/** Polls without an answer until a chain counts as blind, and their least time. */
const BLIND_AFTER = { polls: 20, ms: 5_000 }
/** Time for what is under way when the solver is closed. */
const CLOSING_MS = 1_000
/** The token may refuse its receivers, and each order would cost a part of the bond. */
const MISSED_SECONDS = 3_600
/** Often, so that each time is short. */
const PRUNE_SECONDS = 60

/**
 * Connects to a chain, sends what a stopped process may have left unsent, and pays and ends from then on what it has left. It
 * quotes only after `prepare`.
 * @throws Error with the node's words, and Error for a chain or an account that does not fit
 */
export async function startChainRun(
  chainId: number,
  chainOptions: ChainOptions,
  shared: SharedOptions,
): Promise<ChainRun> {
  const { state, clock, account } = shared
  const chain = await openChain(chainId, chainOptions, shared.protocolName)
  const place = `chains[${chainId}].rpc must show its newest block`
  const time = await readChainTime(chain, clock).catch(failed(place))
  const solver = lowerCase(account.address)
  const payments = startPayments(chain, time, shared)
  const parts: ChainParts = {
    ...shared,
    chain,
    solver,
    time,
    ledger: createQuoteLedger(chain.bondReservationBps, shared.limits),
    addresses: createDepositAddresses(chain, solver, state, time),
    payments,
    readHoldings: createHoldingsReader(chain, solver, payments !== undefined, shared.onError),
    missed: new Map(),
  }
  for (const { signed, isForAddress } of state.keptQuotes(chainId)) parts.ledger.add(signed, isForAddress)
  parts.ledger.advance(time.passed())
  return run(parts)
}

async function run(parts: ChainParts): Promise<ChainRun> {
  const { chain, ledger, time, state, clock, payments, addresses, log, onError } = parts
  const budget = createCancelBudget({
    chain,
    state,
    now: time.passed,
    onSpent: onError,
    onRoom: () => log.info({ chainId: chain.chainId }, 'maxCancelFees allows cancellations again'),
  })
  const cancellations =
    payments &&
    createCancellations({
      ...parts,
      payments,
      budget,
      onEnd: () => ending.look(),
      onUnaffordable: (nonces) => ending.leaveOpen(nonces),
    })
  const filling = startFilling(parts, (nonce) => cancellations?.has(nonce) ?? false)
  const ending = createEnding({
    ...parts,
    filling,
    cancellations,
    refresh: () => refresh(parts),
  })
  // Their nonces must be taken before new ones are.
  await payments?.resume().catch(failed(`chains[${chain.chainId}].rpc must take transactions again`))
  cancellations?.resume()
  filling.resume()
  const following = follow(parts, filling, ending)
  let isPrepared = false
  let isPoor = false

  /** Reports once that the account needs more. */
  function isWithoutGas(): boolean {
    const gas = ledger.gas()
    const isLacking = gas !== undefined && lacksGas(gas, ledger.count() + 1, chain.maxCancelFees)
    if (isLacking && !isPoor)
      onError(
        new Error(
          `${parts.solver} has ${gas.balance} wei on chain ${chain.chainId}, too little for the gas of open quotes and a payment: it does not quote`,
        ),
      )
    isPoor = isLacking
    return isLacking
  }

  return {
    chain,
    ledger,
    time,
    filling,
    async prepare() {
      await prepare(parts)
      isPrepared = true
    },
    shortageFor: (asked) =>
      ledger.shortageFor(asked, {
        lockSeconds: asked.quote.fillDeadline - time.now(),
        keepsTokens: addresses.keepsTokens(),
      }),
    pauseFor({ outputToken, isForAddress }) {
      if (!isPrepared) return 'the chain is not ready'
      if (time.isStale()) return 'the newest block is old'
      const blindMs = Math.max(BLIND_AFTER.polls * chain.pollIntervalMs, BLIND_AFTER.ms)
      if (clock.monotonic() - following.polledAt() > blindMs) return 'the node does not answer'
      if (budget.isSpent()) return 'cancellations have cost maxCancelFees in an hour'
      if (isWithoutGas()) return 'the account cannot pay for the gas of what it has promised'
      if (time.passed() < (parts.missed.get(outputToken) ?? 0))
        return 'an order in the output token was missed'
      return isForAddress && addresses.areDeclined()
        ? 'a deposit address has cost a part of the bond'
        : undefined
    },
    addQuote(signed, isForAddress) {
      state.addQuote(signed, isForAddress)
      ledger.add(signed, isForAddress)
    },
    async cancelQuotes(selects = () => true) {
      const kept = [...ledger.quotes()].flatMap(({ signed }) => signed)
      return ending.cancel(kept.filter(selects))
    },
    async hint(orderId) {
      const { state: reached, solver, fillDeadline } = await readOrder(chain, orderId)
      if (reached === 'DEPOSITED' && solver === parts.solver) filling.deposited(orderId, fillDeadline)
    },
    async idle() {
      const parts = [following.ended, filling.idle(), cancellations?.idle()]
      await within(clock, CLOSING_MS, Promise.all(parts).catch(onError))
    },
  }
}

/** Follows the blocks of a chain, and does what is due at each. */
function follow(parts: ChainParts, filling: Filling, ending: Ending) {
  const { chain, solver, state, ledger, time, clock } = parts
  let polledAt = clock.monotonic()
  let nextPruning = 0
  const ended = pollDeposits({
    ...parts,
    ...positionIn(state, chain.chainId),
    solver,
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
      await refresh(parts)
      if (time.passed() < nextPruning) return
      nextPruning = time.passed() + PRUNE_SECONDS
      state.prune(chain.chainId, time.passed())
    },
    onPolled() {
      polledAt = clock.monotonic()
    },
  })
  return { ended, polledAt: () => polledAt }
}

/** Undefined for an account that leaves its payments to `fill`. */
function startPayments(chain: SolverChain, time: ChainTime, shared: SharedOptions): Payments | undefined {
  const { account, fill, log, metrics } = shared
  if (account.signTransaction === undefined && fill !== undefined) {
    log.warn({ chainId: chain.chainId }, 'the account signs no transactions: cancel unused quotes yourself')
    return undefined
  }
  return createPayments({
    ...shared,
    chain,
    time,
    sender: createTransactionSender(chain, account, () => nonceAfter(shared.state, chain.chainId)),
    onRaised(payment, transactionHash) {
      metrics.feesRaised++
      log.info({ chainId: chain.chainId, payment, transactionHash }, 'fees raised')
    },
  })
}

/** The first nonce of the account after those of transactions whose end has not been seen. */
function nonceAfter(state: SolverState, chainId: number): number {
  const nonces = state.waitingPayments(chainId).map(({ transaction }) => transaction.nonce)
  return Math.max(-1, ...nonces) + 1
}

/** What must be done before the solver quotes. */
async function prepare(parts: ChainParts): Promise<void> {
  const { chain, solver, payments, signal, ledger, time, onError } = parts
  if (payments !== undefined) await approveTokens(chain, solver, payments, { signal, onError })
  await refresh(parts).catch(failed(`chains[${chain.chainId}].rpc must show what ${solver} has`))
  time.see(await readHead(chain).catch(failed(`chains[${chain.chainId}].rpc must show its newest block`)))
  ledger.advance(time.passed())
}

function startFilling(parts: ChainParts, isCancelling: (nonce: bigint) => boolean): Filling {
  const { chain, ledger, state, time, metrics, log, onError } = parts
  const { chainId } = chain
  /** The orders whose deposits were there, until they end. */
  const found = new Set<Hex>()

  function onEnd({ orderId, status, transactionHash }: EndedOrder, signed: SolverQuote | undefined): void {
    log.info({ chainId, orderId, status, transactionHash }, 'order ended')
    // Other orders have ended before this state began.
    const wasFound = found.delete(orderId)
    const isOwn = signed !== undefined || transactionHash !== undefined || wasFound
    if (status === 'FILLED' && isOwn) {
      metrics.filled++
      parts.onFilled({ chainId, orderId, transactionHash })
    }
    if (status === 'MISSED' && isOwn) {
      metrics.missed++
      onError(new Error(`order ${orderId} on chain ${chainId} was not paid by its fill deadline`))
    }
    if (status === 'MISSED' && wasFound && signed !== undefined) {
      const { outputToken } = signed.quote
      parts.missed.set(outputToken, time.passed() + MISSED_SECONDS)
      onError(
        new Error(
          `quotes of ${outputToken} on chain ${chainId} are declined for an hour: an order was missed`,
        ),
      )
    }
  }

  /** What was paid out must be missing from the holdings before it is missing from the promises. */
  async function onEnded({ quote, orderId }: SolverQuote, isNonceUsed: boolean): Promise<void> {
    await refresh(parts).catch(onError)
    // With an unused nonce it can still cost a part of the bond.
    if (!isNonceUsed) return ledger.deposited(quote, 'NONE')
    for (const other of ledger.get(quote.nonce)?.signed ?? []) state.endQuote(other.orderId, time.passed())
    state.endQuote(orderId, time.passed())
    ledger.end(quote)
  }

  return createFilling({
    ...parts,
    isCancelling,
    onDeposit(orderId, signed, where) {
      found.add(orderId)
      metrics.deposits++
      log.info({ chainId, orderId, where }, 'deposit')
      if (signed === undefined) return
      // A reorganisation has removed its end.
      if (ledger.get(signed.quote.nonce) === undefined) ledger.add(signed, !isPrice(signed.quote))
      ledger.deposited(signed.quote, where)
    },
    onPayment: () => void metrics.paymentsSent++,
    onReverted(orderId, hash) {
      metrics.paymentsReverted++
      onError(new Error(`the payment ${hash} of order ${orderId} reverted`))
    },
    onEnd,
    onEnded,
  })
}

async function refresh({ ledger, addresses, readHoldings }: ChainParts): Promise<Holdings> {
  const holdings = await readHoldings()
  ledger.update(holdings)
  addresses.see(holdings)
  return holdings
}

/** The last block that was read. */
function positionIn(state: SolverState, chainId: number) {
  const name = `chain ${chainId}`
  return {
    position() {
      const text = state.position(name)
      return text === undefined ? undefined : Number(text)
    },
    savePosition: (block: number) => state.setPosition(name, String(block)),
  }
}

/** @returns when the work has ended, or after that time */
async function within(clock: Clock, ms: number, work: Promise<unknown>): Promise<void> {
  const over = new AbortController()
  const timeout = clock.sleep(ms, over.signal).catch(() => {})
  await Promise.race([work, timeout])
  over.abort()
}
