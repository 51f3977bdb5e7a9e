import { privateKeyToAccount } from 'viem/accounts'
import { expect, it } from 'vitest'
import { createManualClock } from '../../../test/support/manual-clock.js'
import type { ChainRun } from '../src/chain-run.js'
import { createMetrics } from '../src/metrics.js'
import type { QuoteSigner } from '../src/quote-signer.js'
import { createQuoting, type IncomingRequest } from '../src/quoting.js'
import type { SolverOptions } from '../src/solver-options.js'

const WETH = '0x9fe46736679d2d9a65f0992f2272de9f3c7fa6e0'
const USDC = '0xcf7ed3acca5a467e9e704c703e8d87f634fb0fc9'
const CHAIN_ID = 1
const account = privateKeyToAccount(`0x${'11'.repeat(32)}`)
const NEVER = new Promise<never>(() => {})

/** The answers of a solver with one chain, which pauses for nothing and has all funds. */
function startQuoting(quote: SolverOptions['quote'], sign: QuoteSigner['sign']) {
  const clock = createManualClock()
  const metrics = createMetrics()
  const errors: string[] = []
  /** The nonces of the quotes that count. */
  const promised = new Set<bigint>()
  const now = Math.floor(clock.now() / 1000)
  const run = {
    chain: { chainId: CHAIN_ID, tokens: new Map([WETH, USDC].map((token) => [token, 0n])), minOrder: 0n },
    time: { now: () => now, blockSeconds: () => 1 },
    pauseFor: () => undefined,
    shortageFor: () => undefined,
    ledger: {
      promise: (asked: { quote: { nonce: bigint } }) => promised.add(asked.quote.nonce),
      end: ({ nonce }: { nonce: bigint }) => promised.delete(nonce),
    },
    addQuote() {},
  } as unknown as ChainRun
  const quoting = createQuoting({
    chains: new Map([[CHAIN_ID, run]]),
    signer: { account, sign },
    quote,
    rules: { minFillSeconds: 60, maxLockSeconds: 3_600 },
    clock,
    metrics,
    log: { debug() {}, info() {}, warn() {}, error() {} },
    onError: (error) => errors.push((error as Error).message),
    signal: new AbortController().signal,
  })
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
    traceparent: undefined,
  }
  return { clock, metrics, errors, promised, ask: (signal?: AbortSignal) => quoting(request, signal) }
}

it('a price that never comes is declined once at the deadline, and then its place is free', async () => {
  const prices = Array.from({ length: 64 }, () => NEVER)
  const { clock, metrics, errors, ask } = startQuoting(
    () => prices.pop() ?? { decline: 'AMOUNT_TOO_SMALL' },
    () => NEVER,
  )
  const answers = Array.from({ length: 64 }, () => ask())
  expect(await ask()).toEqual({ decline: 'PAUSED' })
  await clock.advance(500)
  expect(await Promise.all(answers)).toEqual(answers.map(() => ({ decline: 'OTHER' })))
  expect(await ask()).toEqual({ decline: 'AMOUNT_TOO_SMALL' })
  expect(metrics).toMatchObject({ requests: 66, declined: 66, quoted: 0 })
  expect(errors).toEqual(answers.map(() => 'the deadline has passed: quote must answer earlier'))
  expect(clock.waiting).toBe(0)
})

it('a signature that never comes is declined at the deadline, and its quote counts no more', async () => {
  const { clock, promised, ask } = startQuoting(
    () => ({ amount: 5n }),
    () => NEVER,
  )
  const answer = ask()
  await clock.advance(499)
  expect(promised.size).toBe(1)
  await clock.advance(1)
  expect(await answer).toEqual({ decline: 'OTHER' })
  expect(promised.size).toBe(0)
})

it('an instance that has left frees the place of its request, and this is no error', async () => {
  const { errors, ask } = startQuoting(
    () => NEVER,
    () => NEVER,
  )
  const leaving = new AbortController()
  const answer = ask(leaving.signal)
  leaving.abort(new Error('the instance has left'))
  expect(await answer).toEqual({ decline: 'OTHER' })
  expect(errors).toEqual([])
})
