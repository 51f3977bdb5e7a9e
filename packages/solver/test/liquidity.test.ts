import { expect, it } from 'vitest'
import type { Quote } from '../../../src/domain/quote.js'
import { createLiquidity, type Liquidity } from '../src/liquidity.js'
import { createOpenQuotes } from '../src/open-quotes.js'

const USDC = '0xcf7ed3acca5a467e9e704c703e8d87f634fb0fc9'
const WETH = '0x9fe46736679d2d9a65f0992f2272de9f3c7fa6e0'
const DEADLINE = 2_000_000_000

let nonce = 0n

function quote(outputAmount: bigint, changes: Partial<Quote> = {}): Quote {
  return {
    solver: '0x3c44cdddb6a900fa2b585dd299e03d12fa4293bc',
    user: '0x70997970c51812dc3a010c7d01b50e0d17dc79c8',
    inputToken: WETH,
    inputAmount: 1n,
    outputToken: USDC,
    outputAmount,
    orderType: 'EXACT_INPUT',
    outputChainId: 31337,
    depositDeadline: DEADLINE - 60,
    fillDeadline: DEADLINE,
    nonce: nonce++,
    ...changes,
  }
}

/** 1000 USDC to pay, and a free bond of 100. */
function open({ overcommit = 1, bondReservationBps = undefined as bigint | undefined } = {}) {
  const liquidity = createLiquidity({ overcommit, bondReservationBps })
  liquidity.update({ payable: new Map([[USDC, 1000n]]), freeBond: 100n })
  return liquidity
}

const covers = (liquidity: Liquidity, asked: Quote) => liquidity.shortageFor(asked) === undefined

it('what is too low for a quote is named', () => {
  const liquidity = open({ bondReservationBps: 5_000n })
  expect([200n, 202n, 1001n].map((amount) => liquidity.shortageFor(quote(amount)))).toEqual([
    undefined,
    'FREE_BOND',
    'PAYABLE',
  ])
})

it('nothing is covered before the holdings are known', () => {
  expect(createLiquidity({ overcommit: 1, bondReservationBps: 500n }).shortageFor(quote(1n))).toBe('UNREAD')
})

it('a quote is covered up to the balance, and no quote of another token', () => {
  const liquidity = open()
  expect([1000n, 1001n].map((amount) => covers(liquidity, quote(amount)))).toEqual([true, false])
  expect(covers(liquidity, quote(1n, { outputToken: WETH }))).toBe(false)
})

it('open quotes reduce what is covered, until they are released', () => {
  const liquidity = open()
  const promised = quote(600n)
  liquidity.promise(promised)
  expect([400n, 401n].map((amount) => covers(liquidity, quote(amount)))).toEqual([true, false])
  liquidity.release(promised)
  liquidity.release(promised)
  expect(covers(liquidity, quote(1000n))).toBe(true)
})

it('open quotes are released after their fill deadline', () => {
  const liquidity = open()
  const quotes = createOpenQuotes(liquidity)
  const promised = quote(600n)
  liquidity.promise(promised)
  const depositAddress = '0x70997970c51812dc3a010c7d01b50e0d17dc79c8'
  quotes.add({ chainId: 31337, quote: promised, signature: '0x', orderId: '0x', depositAddress })
  quotes.removeExpired(DEADLINE)
  expect([covers(liquidity, quote(401n)), liquidity.count(), quotes.addresses()]).toEqual([
    false,
    1,
    [depositAddress],
  ])
  quotes.removeExpired(DEADLINE + 1)
  expect([covers(liquidity, quote(1000n)), liquidity.count(), quotes.addresses()]).toEqual([true, 0, []])
})

it('with overcommit, open quotes may promise more, but neither one alone nor what is deposited', () => {
  const liquidity = open({ overcommit: 3 })
  const taken = quote(1000n)
  liquidity.promise(taken)
  liquidity.promise(quote(1000n))
  expect([1000n, 1001n].map((amount) => covers(liquidity, quote(amount)))).toEqual([true, false])
  liquidity.deposited(taken, 'CONTRACT')
  expect(covers(liquidity, quote(1n))).toBe(false)
})

it('the free bond limits open quotes and deposits at addresses; the contract itself reserves for the others', () => {
  const liquidity = open({ bondReservationBps: 5000n })
  expect([200n, 202n].map((amount) => covers(liquidity, quote(amount)))).toEqual([true, false])
  const taken = quote(100n)
  liquidity.promise(taken)
  expect([100n, 102n].map((amount) => covers(liquidity, quote(amount)))).toEqual([true, false])
  liquidity.deposited(taken, 'ADDRESS')
  expect([100n, 102n].map((amount) => covers(liquidity, quote(amount)))).toEqual([true, false])
  liquidity.deposited(taken, 'CONTRACT')
  expect([200n, 202n].map((amount) => covers(liquidity, quote(amount)))).toEqual([true, false])
})
