import { setMaxListeners } from 'node:events'
import { privateKeyToAccount } from 'viem/accounts'
import { createManualClock } from '../../../../test/support/manual-clock.js'
import { only } from '../../../../test/support/only.js'
import { NO_USER, type Quote } from '../../../protocol/src/quotes/quote.js'
import type { ChainRun } from '../../src/chain/chain-run.js'
import { createMetrics } from '../../src/monitoring.js'
import type { SolverQuote } from '../../src/orders/order-terms.js'
import type { QuoteSigner } from '../../src/quoting/quote-signer.js'
import { createQuoting } from '../../src/quoting/quoting.js'
import type { IncomingRequest } from '../../src/session/wire-forms.js'
import type { SolverOptions } from '../../src/solver-options.js'
import type { SolverParts } from '../../src/solver-parts.js'
import { createOnceAMinute } from '../../src/waiting.js'

export const WETH = '0x9fe46736679d2d9a65f0992f2272de9f3c7fa6e0'
export const USDC = '0xcf7ed3acca5a467e9e704c703e8d87f634fb0fc9'
export const SETTLEMENT = '0xe7f1725e7734ce288f8367e1bb143e90bb3f0512'
const CHAIN_ID = 1
const account = privateKeyToAccount(`0x${'11'.repeat(32)}`)
export const NEVER = new Promise<never>(() => {})

/** The answers of a solver with one chain, which pauses for nothing and has all funds. */
export function startQuoting(
  quote: SolverOptions['quote'],
  sign: QuoteSigner['sign'],
  hasRoom = true,
  shortage?: ReturnType<ChainRun['ledger']['shortageFor']>,
) {
  const clock = createManualClock()
  const { signal } = new AbortController()
  setMaxListeners(0, signal)
  const metrics = createMetrics()
  const errors: string[] = []
  const lines: object[] = []
  const warnings: string[] = []
  /** What the ledger was asked. */
  const shortages: unknown[][] = []
  /** The nonces of the quotes that count. */
  const promised = new Set<bigint>()
  const open = new Map<bigint, { quote: Quote; deposit: 'NONE' | 'CONTRACT' }>()
  const kept: { user: string; nonce: bigint; isForAddress: boolean }[] = []
  let passed = 0
  let timesCancelled = 0
  const now = Math.floor(clock.now() / 1000)
  const run = only<ChainRun>({
    chain: {
      chainId: CHAIN_ID,
      settlement: SETTLEMENT,
      tokens: new Map([
        [WETH, 0n],
        [USDC, 0n],
      ]),
      minOrder: 0n,
    },
    time: { now: () => now + passed, blockSeconds: () => 1 },
    pauseFor: () => undefined,
    addresses: { keepsTokens: () => true },
    losses: { ofDay: () => 7n },
    ledger: {
      shortageFor(...asked: unknown[]) {
        shortages.push(asked)
        return shortage
      },
      promise(asked: { quote: { nonce: bigint } }) {
        promised.add(asked.quote.nonce)
        return {}
      },
      withdraw: ({ nonce }: { nonce: bigint }) => void (open.has(nonce) || promised.delete(nonce)),
      bondOf: ({ outputAmount }: { outputAmount: bigint }) => outputAmount / 20n,
      quotes: () => [...open.values()],
      add({ quote, isForAddress }: SolverQuote) {
        if (!open.has(quote.nonce)) open.set(quote.nonce, { quote, deposit: 'NONE' })
        kept.push({ user: quote.user, nonce: quote.nonce, isForAddress })
      },
    },
    books: { quoted() {} },
    ending: { timesCancelled: () => timesCancelled },
  })
  const parts = only<SolverParts>({
    options: { minFillSeconds: 60, maxLockSeconds: 3_600, quote },
    account,
    clock,
    metrics,
    isDue: createOnceAMinute(clock),
    log: {
      debug() {},
      info: (line: object) => void lines.push(line),
      warn: (line: object) => void warnings.push((line as { why: string }).why),
      error() {},
    },
    onError: (error: unknown) => void errors.push((error as Error).message),
    signal,
  })
  const quoting = createQuoting(parts, new Map([[CHAIN_ID, run]]), sign, { take: () => hasRoom })
  const request: IncomingRequest = {
    kind: 'FIRM',
    inputToken: WETH,
    outputToken: USDC,
    orderType: 'EXACT_INPUT',
    amount: 1_000n,
    user: account.address,
    chainId: CHAIN_ID,
    destinationChainId: CHAIN_ID,
    depositMode: 'CONTRACT',
    isForAddress: false,
    depositDeadline: now + 300,
    fillDeadline: now + 420,
    id: undefined,
    deadline: clock.now() + 500,
  }
  return {
    clock,
    metrics,
    errors,
    lines,
    warnings,
    promised,
    open,
    kept,
    shortages,
    request,
    /** The market maker cancels its quotes. */
    cancel() {
      timesCancelled++
    },
    /** Time goes on, in seconds. */
    pass(seconds: number): void {
      passed += seconds
    },
    ask: (signal?: AbortSignal, change: Partial<IncomingRequest> = {}) =>
      quoting({ ...request, ...change }, 'SESSION', signal),
    /** Asks for a price, so many seconds later. */
    async askPrice(later: number, outputToken: IncomingRequest['outputToken'] = USDC) {
      passed = later
      const deadlines = { depositDeadline: now + later + 300, fillDeadline: now + later + 420 }
      const inputToken: IncomingRequest['inputToken'] = outputToken === USDC ? WETH : USDC
      const price = { kind: 'INDICATIVE', user: NO_USER, isForAddress: true, depositMode: 'ADDRESS' } as const
      return quoting({ ...request, ...deadlines, inputToken, outputToken, ...price }, 'SESSION')
    },
  }
}

/** Signs at once. */
export const signs: QuoteSigner['sign'] = async (_chain, quote) =>
  ({ chainId: CHAIN_ID, quote, signature: '0x', orderId: '0x', depositAddress: WETH }) as const
