import type { Address } from 'viem'
import { lowerCase } from '../../../src/domain/hex.js'
import { approveTokens } from './chain/approvals.js'
import { pollDeposits } from './chain/deposit-poller.js'
import { readHoldings } from './chain/holdings.js'
import { openChain, type SolverChain } from './chain/open-chain.js'
import { createTransactionSender } from './chain/transactions.js'
import type { FilledOrder, SolverQuote } from './fillable-order.js'
import { createFilling, type Filling } from './filling.js'
import { createLiquidity, type Liquidity } from './liquidity.js'
import type { SolverMetrics } from './metrics.js'
import type { ChainOptions, SolverAccount, SolverLog, SolverOptions } from './solver-options.js'
import type { SolverState, StoredOrder } from './state.js'

/** A solver at work on one chain: what it has, what it has promised, and the orders that it pays. */
export interface ChainRun {
  readonly chain: SolverChain
  readonly liquidity: Liquidity
  readonly filling: Filling
  /** Keeps a quote, and watches its deposit address from now on. */
  addQuote(signed: SolverQuote): void
  /** @returns when nothing runs any more, after the signal has aborted */
  idle(): Promise<void>
}

interface ChainRunOptions {
  readonly chainId: number
  readonly chainOptions: ChainOptions
  readonly account: SolverAccount
  readonly protocolName: string
  readonly overcommit: number
  readonly state: SolverState
  readonly metrics: SolverMetrics
  readonly log: SolverLog
  readonly fill: SolverOptions['fill']
  readonly onFilled: (order: FilledOrder) => void
  readonly onError: (error: unknown) => void
  readonly signal: AbortSignal
}

const nowSeconds = () => Math.floor(Date.now() / 1000)

/**
 * Connects to a chain, sends what a stopped process may have left unsent, puts approvals in place, and starts to follow
 * deposits.
 * @throws viem's errors, those of the account, and Error for a chain or an account that does not fit
 */
export async function startChainRun(options: ChainRunOptions): Promise<ChainRun> {
  const { chainId, account, state, metrics, log, onError, signal } = options
  const solver = lowerCase(account.address)
  const chain = await openChain(chainId, options.chainOptions, options.protocolName)
  const liquidity = createLiquidity({ ...chain, overcommit: options.overcommit })
  const watched = new Map<Address, SolverQuote>()
  const sender =
    account.signTransaction === undefined && options.fill !== undefined
      ? undefined
      : createTransactionSender(chain, account)

  const refresh = async () => liquidity.update(await readHoldings(chain, solver))

  function forget({ quote, depositAddress }: SolverQuote): void {
    watched.delete(depositAddress)
    liquidity.release(quote)
  }

  async function onEnd({ orderId, status, transaction }: StoredOrder, signed: SolverQuote | undefined) {
    const transactionHash = transaction?.hash
    log.info({ chainId, orderId, status, transactionHash }, 'order ended')
    // Others have ended before this state began.
    const isOwn = signed !== undefined || transaction !== undefined
    if (status === 'FILLED' && isOwn) {
      metrics.filled++
      options.onFilled({ chainId, orderId, transactionHash })
    }
    if (status === 'MISSED') {
      metrics.missed++
      onError(new Error(`order ${orderId} on chain ${chainId} was not paid by its fill deadline`))
    }
    // What was paid out must be missing from the holdings before it is missing from the promises.
    await refresh().catch(onError)
    if (signed !== undefined) forget(signed)
  }

  const filling = createFilling({
    chain,
    solver,
    state,
    sender,
    fill: options.fill,
    onDeposit(orderId, signed, where) {
      metrics.deposits++
      log.info({ chainId, orderId, where }, 'deposit')
      if (signed !== undefined) liquidity.deposited(signed.quote, where)
    },
    onPayment: () => void metrics.paymentsSent++,
    onReverted(orderId, hash) {
      metrics.paymentsReverted++
      onError(new Error(`the payment ${hash} of order ${orderId} reverted`))
    },
    onEnd,
    onError,
    signal,
  })

  function addQuote(signed: SolverQuote): void {
    watched.set(signed.depositAddress, signed)
  }

  function forgetExpired(): void {
    const now = nowSeconds()
    liquidity.releaseExpired(now)
    for (const signed of watched.values())
      if (signed.quote.fillDeadline < now) watched.delete(signed.depositAddress)
  }

  const position = `chain ${chainId}`
  // Their nonces must be taken before approvals take new ones.
  const unsent = state.openOrders().flatMap((order) => (order.chainId === chainId ? [order.transaction] : []))
  for (const transaction of unsent.toSorted((one, other) => (one?.nonce ?? 0) - (other?.nonce ?? 0)))
    if (transaction !== undefined) await sender?.sendAgain(transaction)
  if (sender !== undefined) await approveTokens(chain, solver, sender, signal)
  await refresh()
  for (const signed of state.openQuotes(nowSeconds()).filter((open) => open.chainId === chainId)) {
    addQuote(signed)
    liquidity.promise(signed.quote)
  }
  filling.resume()
  const polling = pollDeposits({
    chain,
    solver,
    position: () => toNumber(state.position(position)),
    savePosition: (block) => state.setPosition(position, String(block)),
    addresses: () => [...watched.keys()],
    onDeposited: filling.deposited,
    onTransfer(to) {
      const signed = watched.get(to)
      if (signed !== undefined) filling.deposited(signed.orderId, signed.quote.fillDeadline)
    },
    async onBlock() {
      forgetExpired()
      await refresh()
    },
    onError,
    signal,
  })
  return {
    chain,
    liquidity,
    filling,
    addQuote(signed) {
      state.addQuote(signed)
      addQuote(signed)
    },
    async idle() {
      await polling
      await filling.idle()
    },
  }
}

function toNumber(text: string | undefined): number | undefined {
  return text === undefined ? undefined : Number(text)
}
