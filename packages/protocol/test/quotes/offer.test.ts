import { describe, expect, test } from 'vitest'
import {
  exactInput,
  exactOutput,
  INPUT_TOKEN,
  OUTPUT_TOKEN,
  SOLVER,
  signedQuote,
  USER,
} from '../../../../test/support/solvers/sample-quotes.js'
import { amountsOf, checkOffer, type DropReason } from '../../src/quotes/offer.js'
import type { QuoteRequest } from '../../src/quotes/quote.js'

const MAX = (2n ** 256n - 1n).toString()
const TOO_MUCH = (2n ** 256n).toString()
const SIGNATURE = `0x${'AB'.repeat(65)}`

/** A solver's reply to `exactInput`, as parsed JSON. */
const goodQuote = {
  solver: SOLVER,
  user: USER,
  inputToken: INPUT_TOKEN,
  inputAmount: '1000',
  outputToken: OUTPUT_TOKEN,
  outputAmount: '3000',
  orderType: 0,
  outputChainId: 8453,
  depositDeadline: 1_800_000_300,
  fillDeadline: 1_800_000_420,
  nonce: '7',
}
type Changes = { [field in keyof typeof goodQuote]?: unknown }

/** A request whose offers bind for all of its deposit window. */
const { minDepositDeadline, ...wholeWindow } = exactInput

function check(changes: Changes, asked: QuoteRequest = wholeWindow) {
  return checkOffer(asked, SOLVER, { quote: { ...goodQuote, ...changes }, signature: SIGNATURE })
}

/** The same swap with the other side fixed: 3000 in for exactly 1000 out. */
function checkExactOutput(changes: Changes) {
  return check({ orderType: 1, inputAmount: '3000', outputAmount: '1000', ...changes }, exactOutput)
}

test('checkOffer accepts a reply that matches the request', () => {
  expect(check({})).toEqual({ quote: signedQuote().quote, signature: SIGNATURE.toLowerCase() })
})

test('checkOffer accepts a reply to an exact-output request', () => {
  const { quote } = signedQuote({ orderType: 'EXACT_OUTPUT', inputAmount: 3000n, outputAmount: 1000n })
  expect(checkExactOutput({})).toEqual({ quote, signature: SIGNATURE.toLowerCase() })
})

test('checkOffer accepts addresses in any letter case and returns them in lower case', () => {
  const upper = (address: string) => `0x${address.slice(2).toUpperCase()}`
  const changes = {
    solver: upper(SOLVER),
    user: upper(USER),
    inputToken: upper(INPUT_TOKEN),
    outputToken: upper(OUTPUT_TOKEN),
  }
  expect(check(changes)).toEqual(check({}))
})

test('checkOffer removes fields that the contract does not have', () => {
  const reply = { quote: { ...goodQuote, price: '3' }, signature: SIGNATURE, depositAddress: USER }
  expect(checkOffer(exactInput, SOLVER, reply)).toEqual(check({}))
})

describe('checkOffer drops a malformed reply:', () => {
  test.each<[string, unknown]>([
    ['nothing', undefined],
    ['null', null],
    ['a text', 'quote'],
    ['a list', [{ quote: goodQuote, signature: SIGNATURE }]],
    ['no quote', { signature: SIGNATURE }],
    ['a quote of null', { quote: null, signature: SIGNATURE }],
    ['a quote that is a list', { quote: [goodQuote], signature: SIGNATURE }],
    ['a quote that is a text', { quote: JSON.stringify(goodQuote), signature: SIGNATURE }],
    ['no signature', { quote: goodQuote }],
    ['a signature that is no text', { quote: goodQuote, signature: [SIGNATURE] }],
    ['a signature without 0x', { quote: goodQuote, signature: SIGNATURE.slice(2) }],
    ['a signature of half a byte too many', { quote: goodQuote, signature: `${SIGNATURE}0` }],
    ['a signature that is no hex', { quote: goodQuote, signature: `${SIGNATURE}zz` }],
    ['a signature with a line feed', { quote: goodQuote, signature: `${SIGNATURE}\n` }],
  ])('%s', (_what, reply) => {
    expect(checkOffer(exactInput, SOLVER, reply)).toBe('malformed' satisfies DropReason)
  })
})

describe('checkOffer drops a quote with a single fault:', () => {
  const other = '0x00000000000000000000000000000000000000ff'
  const cases: [DropReason, keyof typeof goodQuote, unknown[]][] = [
    [
      'solver_mismatch',
      'solver',
      [other, USER, '', null, undefined, 0xa1, SOLVER.slice(2), `0X${SOLVER.slice(2)}`],
    ],
    ['user_mismatch', 'user', [other, SOLVER, '', null, undefined]],
    ['input_token_mismatch', 'inputToken', [other, OUTPUT_TOKEN, '', null, undefined]],
    ['output_token_mismatch', 'outputToken', [other, INPUT_TOKEN, '', null, undefined]],
    ['order_type_mismatch', 'orderType', [1, '1', 2, 'EXACT_INPUT', '00', ' 0', '', false, null, undefined]],
    [
      'output_chain_mismatch',
      'outputChainId',
      [1, '1', 8453.5, '08453', '0x2105', '8453 ', [8453], null, undefined],
    ],
    [
      'deposit_deadline_mismatch',
      'depositDeadline',
      [1_800_000_299, 1_800_000_301, '1.8000003e9', null, undefined],
    ],
    [
      'fill_deadline_mismatch',
      'fillDeadline',
      [1_800_000_419, 1_800_000_421, '+1800000420', null, undefined],
    ],
    [
      'fixed_amount_mismatch',
      'inputAmount',
      ['999', '1001', 1000, '01000', '+1000', '1e3', '1000.0', '0x3e8', null],
    ],
    [
      'amount_out_of_range',
      'outputAmount',
      ['0', 3000, '03000', '+3000', '-3000', '3e3', TOO_MUCH, null, undefined],
    ],
    [
      'nonce_out_of_range',
      'nonce',
      [7, '07', '+7', '-7', '7e0', '7.0', '0x7', '', TOO_MUCH, null, undefined],
    ],
  ]
  const rows = cases.flatMap(([reason, field, values]) => values.map((value) => ({ reason, field, value })))

  test.each(rows)('$reason when $field is $value', ({ reason, field, value }) => {
    expect(check({ [field]: value })).toBe(reason)
  })

  test.each(['999', '1001', 1000, '01000', null])(
    'fixed_amount_mismatch when %j is bought for 1000',
    (value) => {
      expect(checkExactOutput({ outputAmount: value })).toBe('fixed_amount_mismatch')
    },
  )

  test.each(['0', 3000, '-1', TOO_MUCH, undefined])('amount_out_of_range when %j is to be sold', (value) => {
    expect(checkExactOutput({ inputAmount: value })).toBe('amount_out_of_range')
  })
})

describe('where an offer may bind for less, checkOffer', () => {
  const checkEarly = (depositDeadline: unknown, fillDeadline: unknown) =>
    check({ depositDeadline, fillDeadline }, { ...wholeWindow, minDepositDeadline })

  test.each([
    [1_800_000_060, 1_800_000_180],
    ['1800000061', '1800000181'],
    [1_800_000_299, 1_800_000_419],
    [1_800_000_300, 1_800_000_420],
  ])('keeps the deadlines %j and %j of the offer', (depositDeadline, fillDeadline) => {
    const times = { depositDeadline: Number(depositDeadline), fillDeadline: Number(fillDeadline) }
    expect(checkEarly(depositDeadline, fillDeadline)).toMatchObject({ quote: times })
  })

  test.each([
    [1_800_000_059, 1_800_000_179],
    [1_800_000_301, 1_800_000_421],
    [1_800_000_060.5, 1_800_000_180.5],
    ['0x6b49d23c', 1_800_000_180],
    [[1_800_000_060], 1_800_000_180],
    [null, 1_800_000_420],
  ])('takes no deposit deadline of %j', (depositDeadline, fillDeadline) => {
    expect(checkEarly(depositDeadline, fillDeadline)).toBe('deposit_deadline_mismatch')
  })

  test.each([1_800_000_420, 1_800_000_179, 1_800_000_181, null])(
    'takes no fill deadline of %j for a deposit deadline of 1800000060',
    (fillDeadline) => {
      expect(checkEarly(1_800_000_060, fillDeadline)).toBe('fill_deadline_mismatch')
    },
  )
})

describe('checkOffer accepts', () => {
  test.each<[keyof typeof goodQuote, unknown]>([
    ['orderType', '0'],
    ['outputChainId', '8453'],
    ['depositDeadline', '1800000300'],
    ['fillDeadline', '1800000420'],
  ])('%s as the decimal string %j', (field, value) => {
    expect(check({ [field]: value })).toEqual(check({}))
  })

  test.each(['1', MAX])('%s for the side that is not fixed', (amount) => {
    expect(check({ outputAmount: amount })).toMatchObject({ quote: { outputAmount: BigInt(amount) } })
    expect(checkExactOutput({ inputAmount: amount })).toMatchObject({
      quote: { inputAmount: BigInt(amount) },
    })
  })

  test.each(['0', MAX])('the nonce %s', (nonce) => {
    expect(check({ nonce })).toMatchObject({ quote: { nonce: BigInt(nonce) } })
  })

  test('a fixed amount beyond 2^53 only if all digits match', () => {
    const asked = { ...exactInput, amount: 9_007_199_254_740_993n }
    expect(check({ inputAmount: '9007199254740992' }, asked)).toBe('fixed_amount_mismatch')
    expect(check({ inputAmount: '9007199254740993' }, asked)).toMatchObject({
      quote: { inputAmount: 9_007_199_254_740_993n },
    })
  })

  test('a signature of any length, because the signature check comes later', () => {
    expect(checkOffer(exactInput, SOLVER, { quote: goodQuote, signature: '0x' })).toMatchObject({
      signature: '0x',
    })
  })
})

test.each([
  ['1', '1'],
  ['9'.repeat(78), '9'.repeat(78)],
  ...['\u0001', '0x10', '-1', '1e3', ' 1', '1.5', '٣', '9'.repeat(101), 1, null].map(
    (amount): [unknown, undefined] => [amount, undefined],
  ),
])('of the amount %j of a reply, records have %j', (amount, noted) => {
  expect(amountsOf({ quote: { inputAmount: amount } })).toEqual({ inputAmount: noted })
})
