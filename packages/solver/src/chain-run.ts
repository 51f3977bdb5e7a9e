import type { Hex } from 'viem'
import type { Clock } from '../../../src/clock.js'
import { lowerCase } from '../../../src/domain/hex.js'
import { type CancelledQuote, createCancelling } from './cancelling.js'
import { approveTokens } from './chain/approvals.js'
import { type ChainTime, readChainTime } from './chain/chain-time.js'
import { pollDeposits } from './chain/deposit-poller.js'
import { readHoldings } from './chain/holdings.js'
import { openChain, type SolverChain } from './chain/open-chain.js'
import { readOrder } from './chain/orders.js'
import { createTransactionSender } from './chain/transactions.js'
import type { FilledOrder, SolverQuote } from './fillable-order.js'
import { createFilling, type EndedOrder, type Filling } from './filling.js'
import type { SolverMetrics } from './metrics.js'
import { createPayments, type Payments } from './payments.js'
import {
  type AskedQuote,
  createQuoteLedger,
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
  /** What is too low for a further quote. */
  shortageFor(asked: AskedQuote): Shortage | undefined
  /** Why nothing may be signed at present. @param isForAddress whether the quote is for a deposit address */
  pauseFor(isForAddress: boolean): string | undefined
  /** Keeps a quote, and watches its deposit address from now on. */
  addQuote(signed: SolverQuote): void
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
  readonly onFilled: (order: FilledOrder) => void
  readonly onError: (error: unknown) => void
  readonly signal: AbortSignal
}

interface ChainRunParts extends SharedOptions {
  readonly chain: SolverChain
  readonly solver: Hex
  readonly ledger: QuoteLedger
  readonly time: ChainTime
  readonly payments: Payments | undefined
}

/** Polls without an answer until a chain counts as blind, and their least time. */
const BLIND_AFTER = { polls: 20, ms: 5_000 }
/** Time for what is under way when the solver is closed. */
const CLOSING_MS = 1_000

/**
 * Connects to a chain, sends what a stopped process may have left unsent, puts approvals in place, and starts to follow
 * deposits.
 * @throws viem's errors, those of the account, and Error for a chain or an account that does not fit
 */
export async function startChainRun(
  chainId: number,
  chainOptions: ChainOptions,
  shared: SharedOptions,
): Promise<ChainRun> {
  const { state, onError, signal, clock } = shared
  const chain = await openChain(chainId, chainOptions, shared.protocolName)
  const time = await readChainTime(chain, clock)
  const ledger = createQuoteLedger(chain.bondReservationBps, shared.limits)
  const parts: ChainRunParts = {
    ...shared,
    chain,
    solver: lowerCase(shared.account.address),
    ledger,
    time,
    payments: startPayments(chain, time, shared),
  }
  const filling = startFilling(parts)
  await prepare(parts)
  filling.resume()
  const cancelQuotes = startCancelling(parts, filling)
  let polledAt = clock.monotonic()
  const polling = pollDeposits({
    chain,
    clock,
    solver: parts.solver,
    ...positionIn(state, chainId),
    addresses: ledger.addresses,
    onDeposited: (orderId, fillDeadline) => filling.deposited(orderId, fillDeadline, 'CONTRACT'),
    onTransfer(to) {
      const signed = ledger.at(to)
      if (signed !== undefined) filling.deposited(signed.orderId, signed.quote.fillDeadline, 'ADDRESS')
    },
    async onBlock(head) {
      time.see(head)
      ledger.advance(time.passed())
      await refresh(parts)
    },
    onPolled() {
      polledAt = clock.monotonic()
    },
    onError,
    signal,
  })
  return {
    chain,
    ledger,
    time,
    filling,
    shortageFor: (asked) =>
      ledger.shortageFor(asked, {
        lockSeconds: asked.quote.fillDeadline - time.now(),
        keepsTokens: true,
      }),
    pauseFor(_isForAddress) {
      if (time.isStale()) return 'the newest block is old'
      const blindMs = Math.max(BLIND_AFTER.polls * chain.pollIntervalMs, BLIND_AFTER.ms)
      return clock.monotonic() - polledAt > blindMs ? 'the node does not answer' : undefined
    },
    addQuote(signed) {
      state.addQuote(signed)
      ledger.add(signed)
    },
    cancelQuotes,
    async hint(orderId) {
      const { state: reached, solver, fillDeadline } = await readOrder(chain, orderId)
      if (reached === 'DEPOSITED' && solver === parts.solver)
        filling.deposited(orderId, fillDeadline, 'CONTRACT')
    },
    async idle() {
      const ended = Promise.all([polling, filling.idle()])
      await within(clock, CLOSING_MS, ended)
    },
  }
}

/** Undefined for an account that leaves its payments to `fill`. */
function startPayments(chain: SolverChain, time: ChainTime, shared: SharedOptions): Payments | undefined {
  const { account, fill, log, metrics } = shared
  if (account.signTransaction === undefined && fill !== undefined) return undefined
  return createPayments({
    ...shared,
    chain,
    time,
    sender: createTransactionSender(chain, account),
    onRaised(payment, transactionHash) {
      metrics.feesRaised++
      log.info({ chainId: chain.chainId, payment, transactionHash }, 'fees raised')
    },
  })
}

/** What must be done before the solver quotes. */
async function prepare(parts: ChainRunParts): Promise<void> {
  const { chain, solver, state, payments, ledger, time, signal } = parts
  // Their nonces must be taken before approvals take new ones.
  await payments?.resume()
  if (payments !== undefined) await approveTokens(chain, solver, payments, signal)
  await refresh(parts)
  for (const signed of state.openQuotes(time.passed())) {
    if (signed.chainId !== chain.chainId) continue
    ledger.promise({ quote: signed.quote, isForAddress: true })
    ledger.add(signed)
  }
}

function startFilling(parts: ChainRunParts): Filling {
  const { chain, ledger, metrics, log, onError } = parts
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
  }

  /** What was paid out must be missing from the holdings before it is missing from the promises. */
  async function onEnded(signed: SolverQuote | undefined): Promise<void> {
    await refresh(parts).catch(onError)
    if (signed !== undefined) ledger.end(signed.quote)
  }

  return createFilling({
    ...parts,
    onDeposit(orderId, signed, where) {
      found.add(orderId)
      metrics.deposits++
      log.info({ chainId, orderId, where }, 'deposit')
      if (signed !== undefined) ledger.deposited(signed.quote, where)
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

/** @returns `cancelQuotes` of the chain */
function startCancelling(parts: ChainRunParts, filling: Filling): ChainRun['cancelQuotes'] {
  const { chain, state, payments, ledger, time } = parts
  if (payments === undefined) return () => Promise.reject(new Error('the account cannot sign transactions'))
  const cancelling = createCancelling({
    ...parts,
    payments,
    filling,
    onCancelled: ({ quote }) => ledger.end(quote),
  })
  cancelling.resume()
  return async (selects) => {
    const kept = state.openQuotes(selects === undefined ? time.passed() : 0)
    const wanted = kept.filter(
      (signed) => signed.chainId === chain.chainId && (selects === undefined || selects(signed)),
    )
    return Promise.all(wanted.map((signed) => cancelling.cancel(signed)))
  }
}

async function refresh({ chain, solver, ledger }: ChainRunParts): Promise<void> {
  ledger.update(await readHoldings(chain, solver))
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
