import { toFunctionSelector } from 'viem'
import { describe, expect, it } from 'vitest'
import type { SolverOptions } from '../../packages/solver/src/solver-options.js'
import { RULES, type Rules } from '../support/chain/chain.js'
import { OrderState } from '../support/chain/signed-quote.js'
import type { ModelTransaction } from '../support/model-chain/model-chain.js'
import type { KnownQuote } from './known-quotes.js'
import { startRunning } from './running-solver.js'
import { BOND, SETTLEMENT, SOLVER, STRANGER, settlementCall, WETH } from './world.js'

const CONFIRMATIONS = 20
const ORDERS = toFunctionSelector('orders(bytes32)')

type Fate = 'lost' | 'waiting' | number

/** A solver that runs, and quotes that were taken. */
async function start(rules: Rules = 'reference', options: Partial<SolverOptions> = {}) {
  const running = await startRunning(rules, { confirmations: CONFIRMATIONS }, options)
  const { chain, quoteFor, deposit, passBlocks, isPaid } = running
  const isSigned = ({ from }: ModelTransaction) => from === SOLVER

  return {
    ...running,
    /** Replaces blocks. @param signed what becomes of the solver's transactions @param others and of the others */
    reorganise: (depth: number, signed: Fate, others: Fate) =>
      chain.reorganise(depth, chain.head().timestamp + 2, (removed) => (isSigned(removed) ? signed : others)),
    /** A quote whose deposit was made, and whose order was paid. */
    async paid(): Promise<KnownQuote> {
      const known = await quoteFor(1_000n, { depositSeconds: 200, fillSeconds: 120 })
      deposit(known)
      await passBlocks(4)
      expect(isPaid(known)).toBe(true)
      return known
    },
    async isPaidSoon(known: KnownQuote): Promise<boolean> {
      for (let block = 0; block < 15 && !isPaid(known); block++) await passBlocks(1)
      return isPaid(known)
    },
  }
}

it.each([
  ['a payment', CONFIRMATIONS - 5, CONFIRMATIONS],
  ['a payment whose deposit comes again earlier', 0, CONFIRMATIONS],
  ['a payment, while nothing runs,', 6, 9],
])('%s that is lost is made again, by the same transaction', async (what, blocks, depth) => {
  const isDown = what.includes('nothing runs')
  const { chain, paid, isPaidSoon, reorganise, restart, passBlocks, stateOf, metrics } = await start()
  const known = await paid()
  const sent = chain.countOf(SOLVER)
  await passBlocks(blocks)
  const remove = () => {
    reorganise(depth, 'lost', 0)
    expect(stateOf(known)).not.toBe(OrderState.SETTLED)
  }
  if (isDown) await restart(remove)
  else remove()
  expect(await isPaidSoon(known)).toBe(true)
  await passBlocks(2)
  expect([chain.countOf(SOLVER), metrics().paymentsSent]).toEqual([sent, isDown ? 0 : 1])
  expect(metrics()).toMatchObject({ missed: 0, openOrders: 0, openQuotes: 0 })
})

describe.each(RULES)(
  'on the %s contract, a quote counts again when a reorganisation removes that it was',
  (rules) => {
    it.each(['missed', 'missed, while nothing runs', 'slashed', 'emptied'])('%s', async (what) => {
      const told: string[] = []
      const tell = (name: string) => () => void told.push(name)
      const { quoteFor, deposit, transfer, refund, passBlocks, reorganise, restart, ...solver } = await start(
        rules,
        {
          mayFill: async () => false,
          onMissed: tell('missed'),
          onDepositRemoved: tell('removed'),
          onCancelled: tell('cancelled'),
        },
      )
      const isDeposited = what.startsWith('missed')
      const known = await quoteFor(1_000n, { isForAddress: !isDeposited })
      const costs = () => solver.statement().missed.map(({ cost }) => cost)
      if (isDeposited) deposit(known)
      // The solver sends no cancellation that would be sent again.
      await restart(async () => {
        await passBlocks(8, 10)
        if (isDeposited) return
        transfer(known, what === 'slashed' ? known.quote.inputAmount : 1n)
        refund('refundAddressDeposit', known)
        await passBlocks(1, 10)
      })
      await passBlocks(2)
      expect([solver.isUnused(known), solver.metrics().openQuotes]).toEqual([false, 0])
      const missed = what === 'emptied' ? [] : ['missed']
      expect([told, costs()]).toEqual([missed, missed.map(() => known.bond)])
      const remove = () => reorganise(15, 'lost', 'lost')
      if (what.endsWith('runs')) await restart(remove)
      else remove()
      expect(solver.isUnused(known)).toBe(true)
      await passBlocks(15)
      expect(solver.isUnused(known)).toBe(false)
      solver.slash(known)
      await passBlocks(10)
      expect(solver.bond()).toBe(BOND)
      expect([told, costs()]).toEqual([[...missed, ...missed.map(() => 'removed'), 'cancelled'], []])
      expect(solver.metrics()).toMatchObject({ openOrders: 0, openQuotes: 0 })
    })
  },
)

it('an order that is missed at its address, where its quote stays open, is reported once', async () => {
  const { quoteFor, transfer, passBlocks, isUnused, errors } = await start('deployed', {
    mayFill: async () => false,
  })
  const known = await quoteFor(1_000n, { isForAddress: true })
  transfer(known)
  await passBlocks(60)
  const missed = errors().filter((error) => error.includes('was not paid by its fill deadline'))
  expect([isUnused(known), missed.length]).toEqual([true, 1])
})

it('an order that a stranger has settled is paid when that is lost, also after its deposit deadline', async () => {
  const { chain, quoteFor, transfer, passBlocks, stateOf, isPaid, isPaidSoon } = await start()
  const known = await quoteFor(1_000n, { fillSeconds: 120, isForAddress: true })
  // In one block, before the solver can pay.
  transfer(known)
  chain.act(STRANGER, SETTLEMENT, settlementCall('settle', [known.quote, known.signature]))
  await passBlocks(12)
  expect(isPaid(known)).toBe(true)
  chain.reorganise(12, chain.head().timestamp + 2, ({ to }) => (to === WETH ? 0 : 'lost'))
  expect(stateOf(known)).toBe(OrderState.NONE)
  expect(await isPaidSoon(known)).toBe(true)
})

it.each([
  ['the largest', 1],
  ['the one that is over first', 0],
  ['one that binds less than others', 2],
])(
  'of prices with one nonce, a stranger settles %s: when that is lost, none of them costs bond',
  async (_, settled) => {
    const { chain, quoteFor, transfer, passBlocks, slash, bond, isUnused, metrics } = await start()
    const prices = [
      await quoteFor(500n, { isPrice: true }),
      await quoteFor(1_000n, { isPrice: true, depositSeconds: 120 }),
      await quoteFor(700n, { isPrice: true, depositSeconds: 60 }),
    ]
    expect(new Set(prices.map(({ quote }) => quote.nonce)).size).toBe(1)
    const taken = prices[settled] as KnownQuote
    transfer(taken)
    chain.act(STRANGER, SETTLEMENT, settlementCall('settle', [taken.quote, taken.signature]))
    await passBlocks(16)
    expect(isUnused(taken)).toBe(false)
    chain.reorganise(16, chain.head().timestamp + 2, () => 'lost')
    expect(isUnused(taken)).toBe(true)
    for (let block = 0; block < 120; block++) {
      await passBlocks(1)
      for (const price of prices) if (chain.head().timestamp > price.quote.fillDeadline) slash(price)
    }
    expect([bond(), metrics().openQuotes]).toEqual([BOND, 0])
  },
)

it('an order is not read any more when its payment is deep', async () => {
  const { paid, passBlocks, node } = await start()
  const known = await paid()
  let reads = 0
  node.intercept(({ method, params = [] }, answer) => {
    const { data = '' } = Object(params[0])
    if (method === 'eth_call' && data.startsWith(ORDERS) && data.includes(known.orderId.slice(2))) reads++
    return answer()
  })
  await passBlocks(CONFIRMATIONS - 5)
  expect(reads).toBeGreaterThanOrEqual(CONFIRMATIONS - 5)
  await passBlocks(10)
  reads = 0
  await passBlocks(5)
  expect(reads).toBe(0)
})
