import { expect, it } from 'vitest'
import type { Quote } from '../../../src/domain/quote.js'
import { createQuoteLedger, type QuoteLedger, type RiskLimits } from '../src/quote-ledger.js'

const USDC = '0xcf7ed3acca5a467e9e704c703e8d87f634fb0fc9'
const WETH = '0x9fe46736679d2d9a65f0992f2272de9f3c7fa6e0'
const ADDRESS = '0x70997970c51812dc3a010c7d01b50e0d17dc79c8'
const DEADLINE = 2_000_000_000
const LOCK = { lockSeconds: 420, keepsTokens: false }

let nonce = 0n

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

/** 1000 USDC to pay, and a free bond of which a slash takes 5 %. */
function open({ freeBond = 1_000_000n, ...limits }: Partial<RiskLimits> & { freeBond?: bigint } = {}) {
  const all = { overcommit: 1, maxBondShare: 0.1, maxOpenBond: 0.5, maxAddressBondShare: 0.05, ...limits }
  const ledger = createQuoteLedger(500n, all)
  ledger.update({ payable: new Map([[USDC, 1000n]]), freeBond, totalBond: freeBond })
  return ledger
}

function promise(ledger: QuoteLedger, promised: Quote, isForAddress = false): Quote {
  ledger.promise({ quote: promised, isForAddress })
  return promised
}

const shortage = (ledger: QuoteLedger, asked: Quote, isForAddress = false, lock = {}) =>
  ledger.shortageFor({ quote: asked, isForAddress }, { ...LOCK, ...lock })

it('nothing is covered before the holdings are known', () => {
  const limits = { overcommit: 1, maxBondShare: 1, maxOpenBond: 1, maxAddressBondShare: 1 }
  expect(shortage(createQuoteLedger(500n, limits), quote(1n))).toBe('UNREAD')
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
  ledger.end(first as Quote)
  ledger.end(first as Quote)
  expect([250n, 251n].map((amount) => shortage(ledger, quote(amount)))).toEqual([undefined, 'PAYABLE'])
  ledger.advance(DEADLINE)
  expect(shortage(ledger, quote(251n))).toBe('PAYABLE')
  ledger.advance(DEADLINE + 1)
  expect(shortage(ledger, quote(250n))).toBeUndefined()
})

it('with overcommit, open quotes may promise more, but not what is deposited', () => {
  const ledger = open({ overcommit: 3 })
  const taken = Array.from({ length: 4 }, () => promise(ledger, quote(250n)))
  expect(shortage(ledger, quote(250n))).toBeUndefined()
  for (const each of taken) ledger.deposited(each, 'CONTRACT')
  expect(shortage(ledger, quote(1n))).toBe('PAYABLE')
  ledger.advance(DEADLINE + 1)
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
  ledger.advance(DEADLINE + 86_400)
  expect(shortage(ledger, quote(20n))).toBe('OPEN_BOND')
  ledger.deposited(promised[0] as Quote, 'ADDRESS')
  expect(shortage(ledger, quote(20n))).toBe('OPEN_BOND')
  // The contract itself has reserved it.
  ledger.deposited(promised[1] as Quote, 'CONTRACT')
  expect(shortage(ledger, quote(100n))).toBeUndefined()
  ledger.end(promised[2] as Quote)
  expect(shortage(ledger, quote(119n))).toBeUndefined()
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
  expect([shortage(none, quote(1n), true, keeps), shortage(none, quote(1n), true)]).toEqual([
    'ADDRESS_BOND',
    undefined,
  ])
})

it('a quote that risks no bond is forgotten after its fill deadline', () => {
  const ledger = open()
  promise(ledger, quote(19n))
  promise(ledger, quote(20n))
  ledger.advance(DEADLINE + 1)
  expect(ledger.count()).toBe(1)
})

it('the deposit addresses of signed quotes are watched until their fill deadline', () => {
  const ledger = open()
  const promised = promise(ledger, quote(100n))
  const signed = {
    chainId: 31337,
    quote: promised,
    signature: '0x',
    orderId: '0x',
    depositAddress: ADDRESS,
  } as const
  expect(ledger.addresses()).toEqual([])
  ledger.add(signed)
  expect([ledger.addresses(), ledger.at(ADDRESS)]).toEqual([[ADDRESS], signed])
  ledger.advance(DEADLINE + 1)
  expect([ledger.addresses(), ledger.count()]).toEqual([[], 1])
})
