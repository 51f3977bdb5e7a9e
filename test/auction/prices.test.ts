import { describe, expect, it } from 'vitest'
import { ServiceError } from '../../packages/protocol/src/errors.js'
import { NO_USER, type QuoteRequest } from '../../packages/protocol/src/quotes/quote.js'
import type { Address } from '../../packages/protocol/src/values/hex.js'
import type { Auction, RoundResult } from '../../src/auction/auction.js'
import { createPrices, type PricedSwap } from '../../src/auction/prices.js'
import { identifyClient } from '../../src/clients/client-id.js'
import { createMetrics } from '../../src/telemetry/metrics.js'
import { solver } from '../solvers/sample-solver.js'
import { deferred } from '../support/deferred.js'
import { signedQuote } from '../support/solvers/sample-quotes.js'
import { contextOf } from './context.js'

const CACHE_MS = 1000
const NOW_MS = 1_800_000_000_000
const ADA: Address = '0x00000000000000000000000000000000000000a1'
const SWAP: PricedSwap = {
  chainId: 1,
  inputToken: '0x0000000000000000000000000000000000000001',
  outputToken: '0x0000000000000000000000000000000000000002',
  orderType: 'EXACT_INPUT',
  amount: 5n,
}
const NO_QUOTES = new ServiceError('NO_QUOTES', 'No solver gave a valid quote in time.')

type Round = Parameters<Auction['runRound']>

/** The result of a round with an offer of Ada's. The rest of the offer does not reach a price. */
function offering(request: QuoteRequest, outputAmount: bigint): RoundResult {
  const { inputToken, outputToken, amount: inputAmount } = request
  return result({
    offers: [signedQuote({ solver: ADA, inputToken, outputToken, inputAmount, outputAmount })],
  })
}

function result(changes: Partial<RoundResult>): RoundResult {
  return { quoteId: 'an id', offers: [], counts: {} as RoundResult['counts'], error: undefined, ...changes }
}

/** Prices with rounds that end at once, unless `runRound` says otherwise. Each one offers one unit more. */
function openPrices(changes: { runRound?: Auction['runRound']; cacheMs?: number; softMs?: number } = {}) {
  const rounds: Round[] = []
  const time = { ms: 0 }
  const metrics = createMetrics()
  const runRound: Auction['runRound'] = async (...round) => {
    rounds.push(round)
    return changes.runRound?.(...round) ?? offering(round[0], BigInt(rounds.length))
  }
  const context = contextOf({
    directory: { reachable: (chainId: number) => [solver(1, { chainId, address: ADA, name: 'Ada' })] },
    metrics,
    config: {
      priceCacheMs: changes.cacheMs ?? CACHE_MS,
      quoteSoftTimeoutMs: changes.softMs ?? 0,
      defaultDepositWindowSeconds: 300,
      defaultFillWindowSeconds: 120,
    },
    clock: { monotonic: () => time.ms, now: () => NOW_MS + time.ms },
    deadlineTime: () => NOW_MS + time.ms,
  })
  const { get, close } = createPrices(context, { assertReady() {}, runRound })
  /** The requests by outcome. */
  const outcomes = async () => {
    const { values } = await metrics.prices.get()
    return Object.fromEntries(values.map(({ labels, value }) => [labels.outcome, value]))
  }
  return {
    get: (swap: Parameters<typeof get>[0], address: string) => get(swap, identifyClient(address)),
    close,
    rounds,
    time,
    outcomes,
  }
}

describe('an auction', () => {
  it('asks for no user, on the chain itself, with the default windows', async () => {
    const { get, rounds } = openPrices()
    expect(await get(SWAP, '192.0.2.1')).toEqual({
      quoteId: 'an id',
      best: { solver: ADA, name: 'Ada', inputAmount: 5n, outputAmount: 1n },
      offers: 1,
      asOf: NOW_MS,
    })
    expect(rounds[0]?.[0]).toEqual({
      ...SWAP,
      kind: 'INDICATIVE',
      user: NO_USER,
      destinationChainId: 1,
      depositMode: 'CONTRACT',
      depositDeadline: NOW_MS / 1000 + 300,
      fillDeadline: NOW_MS / 1000 + 420,
    })
  })

  it('has the soft deadline of the operator, if there is one', async () => {
    const softDeadlines = [0, 250].map(async (softMs) => {
      const { get, rounds } = openPrices({ softMs })
      await get(SWAP, '192.0.2.1')
      return rounds[0]?.[2]?.softDeadline
    })
    expect(await Promise.all(softDeadlines)).toEqual([undefined, { afterMs: 250, minQuotes: 1, isOwn: true }])
  })

  it('is shared by all who ask while it is under way, and counts for the first of them', async () => {
    const { opened, open } = deferred()
    const { get, rounds, outcomes } = openPrices({
      runRound: async (request) => {
        await opened
        return offering(request, 9n)
      },
    })
    const asked = ['192.0.2.1', '192.0.2.2', '192.0.2.3'].map((address) => get({ ...SWAP }, address))
    open()
    const [first, ...others] = await Promise.all(asked)
    expect(others).toEqual([first, first])
    expect(
      rounds.map(([, caller]) => [caller.client.address, caller.timeoutMs, caller.signal.aborted]),
    ).toEqual([['192.0.2.1', undefined, false]])
    expect(await outcomes()).toEqual({ quoted: 1, shared: 2 })
  })

  it.each<[string, Partial<PricedSwap>]>([
    ['another chain', { chainId: 2 }],
    ['another input token', { inputToken: ADA }],
    ['another output token', { outputToken: ADA }],
    ['the other direction', { inputToken: SWAP.outputToken, outputToken: SWAP.inputToken }],
    ['another order type', { orderType: 'EXACT_OUTPUT' }],
    ['another amount', { amount: 50n }],
    ['a window', { minDepositWindow: 60 }],
  ])('is not shared by requests for %s', async (_, changes) => {
    const { get, rounds } = openPrices()
    await Promise.all([get(SWAP, '192.0.2.1'), get({ ...SWAP, ...changes }, '192.0.2.1')])
    expect(rounds).toHaveLength(2)
  })

  it('ends when the service closes', async () => {
    const { get, close, rounds } = openPrices({
      runRound: (_request, { signal }) =>
        new Promise((resolve) =>
          signal.addEventListener('abort', () => resolve(result({ error: NO_QUOTES }))),
        ),
    })
    const price = get(SWAP, '192.0.2.1')
    await Promise.all([close(), expect(price).rejects.toBe(NO_QUOTES)])
    expect(rounds).toHaveLength(1)
  })
})

describe('a result', () => {
  it('is returned again until PRICE_CACHE_MS have passed since its auction ended', async () => {
    const { get, time, rounds, outcomes } = openPrices({
      runRound: async (request) => {
        time.ms += 10 * CACHE_MS
        return offering(request, BigInt(time.ms))
      },
    })
    const first = await get(SWAP, '192.0.2.1')
    expect(first.asOf).toBe(NOW_MS + 10 * CACHE_MS)
    time.ms += CACHE_MS - 1
    expect(await get(SWAP, '192.0.2.2')).toBe(first)
    expect(rounds).toHaveLength(1)
    time.ms += 1
    expect((await get(SWAP, '192.0.2.2')).asOf).toBeGreaterThan(first.asOf)
    expect(rounds).toHaveLength(2)
    expect(await outcomes()).toEqual({ quoted: 2, cached: 1 })
  })

  it('that could not begin at the place of another caller begins once at that of one who waits', async () => {
    const busy = new ServiceError('SOLVERS_BUSY', 'More quotes wait than can be served in time.')
    const first = deferred()
    const { get, rounds } = openPrices({
      runRound: (request, { client }) =>
        client.address === '192.0.2.1'
          ? first.opened.then(() => result({ error: busy }))
          : Promise.resolve(offering(request, 7n)),
    })
    const asked = ['192.0.2.1', '198.51.100.1', '203.0.113.1'].map((address) => get(SWAP, address))
    first.open()
    const [own, ...joined] = await Promise.allSettled(asked)
    expect(own).toMatchObject({ status: 'rejected', reason: busy })
    for (const other of joined) expect(other).toMatchObject({ value: { best: { outputAmount: 7n } } })
    expect(rounds.map(([, { client }]) => client.address)).toEqual(['192.0.2.1', '198.51.100.1'])
  })

  it('is never returned again with PRICE_CACHE_MS=0, but auctions are shared', async () => {
    const { get, rounds } = openPrices({ cacheMs: 0 })
    await Promise.all([get(SWAP, '192.0.2.1'), get(SWAP, '192.0.2.2')])
    expect(rounds).toHaveLength(1)
    await get(SWAP, '192.0.2.1')
    expect(rounds).toHaveLength(2)
  })

  it('is forgotten when 10,000 others have been asked since', async () => {
    const { get, rounds } = openPrices()
    for (let amount = 1n; amount <= 10_001n; amount++) await get({ ...SWAP, amount }, '192.0.2.1')
    await get({ ...SWAP, amount: 10_001n }, '192.0.2.1')
    await get({ ...SWAP, amount: 2n }, '192.0.2.1')
    expect(rounds).toHaveLength(10_001)
    await get({ ...SWAP, amount: 1n }, '192.0.2.1')
    expect(rounds).toHaveLength(10_002)
  })
})

describe('an error', () => {
  it.each([
    ['of a round without an offer', async () => result({ error: NO_QUOTES }), { no_quotes: 2, shared: 1 }],
    ['of a round that could not start', () => Promise.reject(NO_QUOTES), { shared: 1 }],
  ])('%s goes to all who wait, and is not kept', async (_, runRound, counted) => {
    const { get, rounds, outcomes } = openPrices({ runRound })
    const asked = ['192.0.2.1', '192.0.2.2'].map((address) => get(SWAP, address))
    for (const price of asked) await expect(price).rejects.toBe(NO_QUOTES)
    expect(rounds).toHaveLength(1)
    await expect(get(SWAP, '192.0.2.1')).rejects.toBe(NO_QUOTES)
    expect(rounds).toHaveLength(2)
    expect(await outcomes()).toEqual(counted)
  })

  it('is counted as busy when all connections to solvers are in use', async () => {
    const error = new ServiceError('SOLVERS_BUSY', 'All connections to solvers are in use.')
    const { get, outcomes } = openPrices({ runRound: async () => result({ error }) })
    await expect(get(SWAP, '192.0.2.1')).rejects.toBe(error)
    expect(await outcomes()).toEqual({ busy: 1 })
  })
})
