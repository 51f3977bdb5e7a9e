import { expect, it } from 'vitest'
import { OrderState } from '../support/chain/signed-quote.js'
import { BASE_FEE, TIP } from '../support/model-chain/model-chain.js'
import type { KnownQuote } from './known-quotes.js'
import { startRunning } from './running-solver.js'
import { FEE_TOKEN, SETTLEMENT, SOLVER, USDC, WETH } from './world.js'

/** A solver with a deposited order, whose node answers broadcasts in its own way. */
async function startWith(broadcast: (take: () => unknown) => unknown, options = {}) {
  const running = await startRunning('reference', options)
  const { quoteFor, deposit, node, chain, stateOf } = running
  const sent: unknown[] = []
  const known = await quoteFor(1_000n, { fillSeconds: 120 })
  node.intercept(({ method, params = [] }, answer) => {
    if (method !== 'eth_sendRawTransaction') return answer()
    sent.push(params[0])
    return broadcast(answer)
  })
  deposit(known)
  const paid = () =>
    chain.blocks
      .flatMap(({ receipts }) => receipts)
      .map(({ transaction }) => transaction)
      .findLast(({ from, to }) => from === SOLVER && to === SETTLEMENT)
  return { ...running, sent, paid, isPaid: () => stateOf(known) === OrderState.SETTLED }
}

const refuse = (words: string) => {
  throw Object.assign(new Error(words), { code: -32000 })
}

it.each([
  ['FeeTooLow, EffectivePriorityFeePerGas too low 1000000000 < 3000000000', 3_000_000_000n, 4],
  ['no', 1_800_000_000n, 4],
  ['no', 3_000_000_000n, 40],
])(
  'an order is paid although the node refuses its fee with "%s" below a tip of %i',
  async (words, tip, blocks) => {
    const { chain, passBlocks, isPaid, paid } = await startWith((take) => {
      try {
        return take()
      } catch {
        return refuse(words)
      }
    })
    chain.setMinTip(tip)
    await passBlocks(blocks)
    expect(isPaid()).toBe(true)
    expect(paid()?.maxFeePerGas).toBeLessThanOrEqual(10n * (2n * BASE_FEE + TIP))
  },
)

it('what a node has refused one payment for holds up no further ones', async () => {
  const running = await startRunning('reference', {})
  const { quoteFor, deposit, node, chain, passBlocks, stateOf } = running
  const orders: KnownQuote[] = []
  for (let count = 0; count < 5; count++)
    orders.push(await quoteFor(1_000n, { depositSeconds: 30, fillSeconds: 120 }))
  node.intercept(({ method }, answer) => {
    if (method !== 'eth_sendRawTransaction') return answer()
    try {
      return answer()
    } catch {
      return refuse('no')
    }
  })
  chain.setMinTip((5n * TIP) / 2n)
  for (const order of orders) deposit(order)
  await passBlocks(35)
  expect(orders.map(stateOf)).toEqual(orders.map(() => OrderState.SETTLED))
  const paid = chain.blocks
    .flatMap(({ receipts }) => receipts)
    .filter(({ transaction: { from, to } }) => from === SOLVER && to === SETTLEMENT)
    .map(({ transaction }) => transaction.maxPriorityFeePerGas as bigint)
  expect(paid.every((tip) => tip <= 6n * TIP)).toBe(true)
})

it('an order is filled once when its first attempt is mined after a later one was signed', async () => {
  let attempts = 0
  const { passBlocks, passHeld, isPaid, paid, metrics, statement, chain } = await startWith((take) =>
    attempts++ === 0 ? take() : refuse('no'),
  )
  const before = chain.countOf(SOLVER)
  await passHeld(12)
  expect(metrics().feesRaised).toBeGreaterThan(0)
  await passBlocks(4)
  expect([isPaid(), chain.countOf(SOLVER) - before, metrics().filled]).toEqual([true, 1, 1])
  expect(statement().transactions.map(({ hash }) => hash)).toContain(paid()?.hash)
})

it('fees do not rise above `maxFeePerGas`, and a payment that has them waits until the base fee falls', async () => {
  const maxFeePerGas = 10n * BASE_FEE
  const { passBlocks, isPaid, paid, errors, chain } = await startWith((take) => take(), { maxFeePerGas })
  chain.setBaseFee(2n * maxFeePerGas)
  await passBlocks(30)
  expect([isPaid(), errors().join()]).toEqual([false, expect.stringContaining('has the highest fees')])
  chain.setBaseFee(BASE_FEE)
  await passBlocks(4)
  expect([isPaid(), paid()?.maxFeePerGas]).toEqual([true, maxFeePerGas])
})

it('a node that suggests no fee and refuses none below 1 gwei gets 1 gwei', async () => {
  const { chain, node, passBlocks, isPaid, paid } = await startWith((take) => take())
  chain.setBaseFee(0n)
  chain.setMinTip(TIP)
  node.intercept(({ method }, answer) => (method === 'eth_maxPriorityFeePerGas' ? '0x0' : answer()))
  await passBlocks(4)
  expect([isPaid(), paid()?.maxPriorityFeePerGas]).toEqual([true, TIP])
})

it('a node that takes a payment and answers with an error is no error, and costs no higher fee', async () => {
  const { sent, passBlocks, isPaid, paid, errors } = await startWith((take) => {
    take()
    return refuse('internal error')
  })
  await passBlocks(4)
  expect([isPaid(), errors(), new Set(sent).size, paid()?.maxPriorityFeePerGas]).toEqual([true, [], 1, TIP])
})

it('a node that refuses a payment for 45 blocks for another reason gets it at last with the first fee, raised five times', async () => {
  let isFull = true
  const { sent, passBlocks, isPaid, paid, errors } = await startWith((take) =>
    isFull ? refuse('txpool is full') : take(),
  )
  await passBlocks(45)
  expect(new Set(sent).size).toBe(12)
  isFull = false
  await passBlocks(2)
  expect([isPaid(), Number(paid()?.maxPriorityFeePerGas) / Number(TIP)]).toEqual([
    true,
    expect.closeTo(1.125 ** 5),
  ])
  expect(errors().filter((error) => error.includes('txpool is full')).length).toBeLessThanOrEqual(2)
})

it.each(['is refused', 'waits, and whose token is not wanted any more,'])(
  'an approval that %s keeps no payment from its nonce',
  async (what) => {
    const before = { tokens: [WETH, USDC] }
    const after = { tokens: [...before.tokens, FEE_TOKEN] }
    const running = await startRunning('reference', before)
    const { quoteFor, deposit, passBlocks, chain, restart, start, kill, isPaid } = running
    if (what === 'is refused') {
      let refusals = 2
      await restart(
        () => {},
        after,
        ({ node }) =>
          node.intercept(({ method }, answer) =>
            method === 'eth_sendRawTransaction' && refusals-- > 0 ? refuse('txpool is full') : answer(),
          ),
      )
    } else
      await restart(async () => {
        const other = start({}, after)
        other.node.intercept(({ method }, answer) => {
          if (method === 'eth_sendRawTransaction') chain.setBaseFee(5n * BASE_FEE)
          return answer()
        })
        await passBlocks(5)
        kill(other)
      })
    const known = await quoteFor(1_000n)
    deposit(known)
    await passBlocks(20)
    expect(isPaid(known)).toBe(true)
  },
)
