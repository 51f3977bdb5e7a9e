import { expect, it, onTestFinished } from 'vitest'
import { only } from '../../../../test/support/only.js'
import { NO_USER, type Quote } from '../../../protocol/src/quotes/quote.js'
import type { Holdings } from '../../src/chain/holdings.js'
import type { SolverQuote } from '../../src/orders/order-terms.js'
import { createQuoteLedger, type QuoteLedger } from '../../src/risk/quote-ledger.js'
import type { Settings } from '../../src/solver-options.js'
import { openState, type SolverState } from '../../src/state.js'

const GAS = { balance: 0n, maxFeePerGas: 0n, isCapped: false }

const USDC = '0xcf7ed3acca5a467e9e704c703e8d87f634fb0fc9'
const WETH = '0x9fe46736679d2d9a65f0992f2272de9f3c7fa6e0'
const ADDRESS = '0x70997970c51812dc3a010c7d01b50e0d17dc79c8'
const DEADLINE = 2_000_000_000
const LOCK = { lockSeconds: 420, keepsTokens: false, slashed: 0n }

let nonce = 0n
/** The chain's time. */
let passed = 0
let now = 0

function quote(outputAmount: bigint, changes: Partial<Quote> = {}): Quote {
  return {
    solver: '0x3c44cdddb6a900fa2b585dd299e03d12fa4293bc',
    user: ADDRESS,
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

function state() {
  const opened = openState(':memory:')
  onTestFinished(opened.close)
  return opened
}

function signedOf(signed: Quote): SolverQuote {
  const orderId = `0x${signed.nonce}${signed.outputAmount}${signed.depositDeadline}` as const
  const known = { chainId: 31337, signature: '0x', depositAddress: ADDRESS, isForAddress: false } as const
  return { ...known, quote: signed, orderId }
}

function build(limits: Partial<Settings>, file: SolverState): QuoteLedger {
  const defaults = { overcommit: 1, maxBondShare: 0.1, maxOpenBond: 0.5, maxAddressBondShare: 0.05 }
  const options = { ...defaults, ...limits }
  const time = { passed: () => passed, now: () => now }
  return createQuoteLedger(
    only({ chain: { chainId: 31337, bondReservationBps: 500n }, options, time, state: file }),
  )
}

/** 1000 USDC to pay, and a free bond of which a slash takes 5 %. */
function open(
  { freeBond = 1_000_000n, ...limits }: Partial<Settings> & { freeBond?: bigint } = {},
  file = state(),
) {
  passed = 0
  const ledger = build(limits, file)
  update(ledger, { blockNumber: 1n, freeBond })
  return ledger
}

/** The holdings have changed. */
function update(ledger: QuoteLedger, { freeBond = 1_000_000n, ...changes }: Partial<Holdings>): void {
  const payable = new Map([[USDC, 1000n] as const])
  ledger.update({ blockNumber: 2n, payable, freeBond, totalBond: freeBond, gas: GAS, ...changes })
}

function promise(ledger: QuoteLedger, promised: Quote, isForAddress = false): Quote {
  ledger.promise({ quote: promised, isForAddress })
  return promised
}

function shortage(ledger: QuoteLedger, asked: Quote, isForAddress = false, lock: Partial<typeof LOCK> = {}) {
  const { lockSeconds, keepsTokens, slashed } = { ...LOCK, ...lock }
  now = asked.fillDeadline - lockSeconds
  return ledger.shortageFor({ quote: asked, isForAddress }, keepsTokens, slashed)
}

it('nothing is covered before the holdings are known', () => {
  expect(shortage(build({}, state()), quote(1n))).toBe('UNREAD')
})

it('a quote promises a quarter of the funds at most, and less of them for more than ten minutes', () => {
  const ledger = open()
  const largest = (lockSeconds: number) =>
    Array.from({ length: 1001 }, (_, amount) => amount).findLast(
      (amount) => shortage(ledger, quote(BigInt(amount)), false, { lockSeconds }) === undefined,
    )
  expect([60, 600, 1_200, 3_600, 86_400].map(largest)).toEqual([250, 250, 125, 41, 1])
  expect(shortage(ledger, quote(251n))).toBe('SHARE')
  expect(shortage(ledger, quote(1n, { outputToken: WETH }))).toBe('PAYABLE')
})

it('four quotes hold all funds until they are ended, or until their fill deadline by the time of the chain', () => {
  const ledger = open()
  const [first] = [250n, 250n, 250n, 250n].map((amount) => promise(ledger, quote(amount)))
  expect(shortage(ledger, quote(1n))).toBe('PAYABLE')
  ledger.end(signedOf(first as Quote))
  ledger.end(signedOf(first as Quote))
  expect([250n, 251n].map((amount) => shortage(ledger, quote(amount)))).toEqual([undefined, 'PAYABLE'])
  passed = DEADLINE
  expect(shortage(ledger, quote(251n))).toBe('PAYABLE')
  passed = DEADLINE + 1
  expect(shortage(ledger, quote(250n))).toBeUndefined()
})

it('with overcommit, open quotes may promise more, but not what is deposited', () => {
  const ledger = open({ overcommit: 3 })
  const taken = Array.from({ length: 4 }, () => promise(ledger, quote(250n)))
  expect(shortage(ledger, quote(250n))).toBeUndefined()
  for (const each of taken) ledger.deposited(each, 'CONTRACT')
  expect(shortage(ledger, quote(1n))).toBe('PAYABLE')
  passed = DEADLINE + 1
  expect(shortage(ledger, quote(1n))).toBe('PAYABLE')
})

it('a quote risks a tenth of the free bond at most, and all of them half of it', () => {
  const ledger = open({ freeBond: 50n })
  expect([119n, 120n].map((amount) => shortage(ledger, quote(amount)))).toEqual([undefined, 'BOND_SHARE'])
  for (let count = 0; count < 5; count++) promise(ledger, quote(100n))
  expect([19n, 20n].map((amount) => shortage(ledger, quote(amount)))).toEqual([undefined, 'OPEN_BOND'])
})

it('the bond of a quote counts after its fill deadline, until its nonce is used', () => {
  const ledger = open({ freeBond: 50n, overcommit: 10 })
  const promised = Array.from({ length: 5 }, () => promise(ledger, quote(100n)))
  passed = DEADLINE + 86_400
  expect(shortage(ledger, quote(20n))).toBe('OPEN_BOND')
  ledger.deposited(promised[0] as Quote, 'ADDRESS')
  expect(shortage(ledger, quote(20n))).toBe('OPEN_BOND')
  ledger.deposited(promised[1] as Quote, 'CONTRACT')
  expect(shortage(ledger, quote(20n))).toBe('OPEN_BOND')
  ledger.end(signedOf(promised[2] as Quote))
  expect(shortage(ledger, quote(100n))).toBeUndefined()
})

it('an order that is not paid counts, and its reserved bond is part of what the limit is a share of', () => {
  const ledger = open({ freeBond: 50n })
  const promised = Array.from({ length: 4 }, () => promise(ledger, quote(100n)))
  for (const each of promised) ledger.deposited(each, 'CONTRACT')
  // The contract has reserved four times 5.
  update(ledger, { freeBond: 30n, totalBond: 50n })
  const asked = [quote(79n), quote(60n), quote(120n)]
  expect(asked.map((each) => shortage(ledger, each))).toEqual([undefined, undefined, 'BOND_SHARE'])
  promise(ledger, quote(79n))
  promise(ledger, quote(40n))
  expect(shortage(ledger, quote(20n))).toBe('OPEN_BOND')
})

it('quotes for deposit addresses risk less where the contract keeps tokens', () => {
  const ledger = open({ freeBond: 100n })
  const keeps = { keepsTokens: true }
  promise(ledger, quote(100n), true)
  const asked = [quote(19n), quote(20n)]
  expect(asked.map((each) => shortage(ledger, each, true, keeps))).toEqual([undefined, 'ADDRESS_BOND'])
  expect(shortage(ledger, quote(100n), false, keeps)).toBeUndefined()
  expect(shortage(ledger, quote(100n), true)).toBeUndefined()
  const none = open({ maxAddressBondShare: 0 })
  expect([shortage(none, quote(100n), true, keeps), shortage(none, quote(100n), true)]).toEqual([
    'ADDRESS_BOND',
    undefined,
  ])
})

it('prices with one nonce count once, at their largest amount, and are ended together', () => {
  const ledger = open({ freeBond: 50n })
  const price = (amount: bigint, changes: Partial<Quote> = {}) =>
    quote(amount, { user: NO_USER, nonce: 7_000n, ...changes })
  for (const amount of [100n, 119n, 1n]) {
    expect(shortage(ledger, price(amount))).toBeUndefined()
    promise(ledger, price(amount))
  }
  promise(ledger, price(1n, { depositDeadline: DEADLINE - 90, fillDeadline: DEADLINE - 30 }))
  expect(ledger.get(7_000n)?.quote).toMatchObject({
    outputAmount: 119n,
    depositDeadline: DEADLINE - 90,
    fillDeadline: DEADLINE - 30,
  })
  expect(shortage(ledger, price(120n))).toBe('BOND_SHARE')
  for (let count = 0; count < 4; count++) promise(ledger, quote(100n))
  expect([19n, 20n].map((amount) => shortage(ledger, quote(amount)))).toEqual([undefined, 'OPEN_BOND'])
  ledger.end(signedOf(price(1n)))
  expect([119n, 1n].map((amount) => shortage(ledger, quote(amount)))).toEqual([undefined, undefined])
})

it('a price that was not sent leaves the others with its nonce, and one that ended meanwhile counts again', () => {
  const ledger = open()
  const price = quote(100n, { user: NO_USER })
  const signed = signedOf(price)
  promise(ledger, price)
  ledger.add(signed)
  ledger.withdraw(price)
  expect(ledger.get(price.nonce)?.signed).toEqual([signed])
  expect(ledger.addresses().size).toBe(0)
  ledger.end(signed)
  ledger.add(signed)
  expect(ledger.count()).toBe(1)
})

it('of prices with one nonce, the largest and the one that is over first are kept', () => {
  const file = state()
  const ledger = open({}, file)
  const signed = (outputAmount: bigint, depositDeadline: number) =>
    signedOf(quote(outputAmount, { user: NO_USER, nonce: 8_000n, depositDeadline }))
  const [first, larger, other] = [signed(5n, 100), signed(9n, 200), signed(7n, 300)]
  for (const price of [first, larger, other]) ledger.add(price)
  expect(file.openQuotes(31337)).toEqual([first, larger])
  for (let count = 0; count < 25_000; count++) ledger.add(signed(8n, 150))
  // The same price again has the same signature, and is no other one to be dropped.
  for (const price of [signed(5n, 100), signed(9n, 200)]) ledger.add(price)
  expect([ledger.get(8_000n)?.signed, file.openQuotes(31337)]).toEqual([
    [first, larger],
    [first, larger],
  ])
  const earlier = signed(10n, 50)
  ledger.add(earlier)
  expect([ledger.get(8_000n)?.signed, file.openQuotes(31337), ledger.count()]).toEqual([
    [earlier],
    [earlier],
    1,
  ])
  expect(shortage(ledger, quote(1n))).toBeUndefined()
})

it('when a reorganisation removes the end of prices with one nonce, all of them count again', () => {
  const file = state()
  const ledger = open({}, file)
  const signed = (outputAmount: bigint, depositDeadline: number) =>
    signedOf(quote(outputAmount, { user: NO_USER, nonce: 9_000n, depositDeadline }))
  const [first, larger] = [signed(5n, 100), signed(9n, 200)]
  const firm = signedOf(quote(1n))
  for (const each of [first, larger, firm]) ledger.add(each)
  for (const taken of [first, larger, undefined]) {
    for (const each of [larger, firm]) ledger.end(each)
    expect([ledger.count(), file.openQuotes(31337)]).toEqual([0, []])
    ledger.reopen(taken)
    expect(
      ledger
        .quotes()
        .map(({ signed }) => signed.toSorted((a, b) => a.quote.depositDeadline - b.quote.depositDeadline)),
    ).toEqual([[first, larger]])
    expect(file.openQuotes(31337)).toHaveLength(2)
    ledger.reopen(firm)
    expect(ledger.get(firm.quote.nonce)?.signed).toEqual([firm])
  }
})

it('the deposit addresses of signed quotes are watched until their fill deadline', () => {
  const ledger = open()
  const promised = promise(ledger, quote(100n))
  const signed = signedOf(promised)
  expect(ledger.addresses().size).toBe(0)
  ledger.add(signed)
  expect([...ledger.addresses()]).toEqual([[ADDRESS, signed]])
  passed = DEADLINE + 1
  expect([ledger.addresses().size, ledger.count()]).toEqual([0, 1])
})

it('small quotes may stay open until they hold a tenth of what `maxOpenBond` allows, or of the memory', () => {
  const ledger = open({ freeBond: 1_000n })
  expect([1n, 10n, 51n].map(ledger.mostSpared)).toEqual([50, 5, 0])
  expect(open({ freeBond: 10n ** 9n }).mostSpared(1n)).toBe(2_000)
})

it('what was slashed counts as open, so that all slashes of a day together stay within the limit', () => {
  const ledger = open({ freeBond: 100n })
  const slashed = { slashed: 40n }
  update(ledger, { freeBond: 60n })
  for (let count = 0; count < 2; count++) {
    expect(shortage(ledger, quote(100n), false, slashed)).toBeUndefined()
    promise(ledger, quote(100n))
  }
  expect([shortage(ledger, quote(100n), false, slashed), shortage(ledger, quote(100n))]).toEqual([
    'OPEN_BOND',
    undefined,
  ])
})

it('what was paid is owed until the holdings are of its block', () => {
  const ledger = open()
  ledger.end(signedOf(promise(ledger, quote(900n))), 5n)
  const both = () => [quote(200n), quote(20n)].map((asked) => shortage(ledger, asked))
  update(ledger, { blockNumber: 4n })
  expect(both()).toEqual(['PAYABLE', undefined])
  update(ledger, { blockNumber: 5n, payable: new Map([[USDC, 100n]]) })
  expect(both()).toEqual(['PAYABLE', undefined])
  update(ledger, { blockNumber: 6n })
  expect(both()).toEqual([undefined, undefined])
})
