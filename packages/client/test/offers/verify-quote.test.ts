import { createClient, custom } from 'viem'
import { beforeAll, describe, expect, it } from 'vitest'
import { highSTwin } from '../../../../test/support/solvers/high-s-twin.js'
import { nonceWithMode } from '../../../protocol/src/quotes/nonce-mode.js'
import { ChainReadError, QuoteVerificationError, type SignedQuote, verifyQuote } from '../../src/index.js'
import { type ContractState, createContractClient, WILLING } from './contract-client.js'
import { identify, offerOf, WANTED as params, QUOTE as quote, TERMS, user } from './signed-offer.js'

const other = '0x00000000000000000000000000000000000000ff'
const terms = { ...TERMS, client: createContractClient() }
/** Every offer of these tests is within them. */
const LIMITS = { maxInputAmount: 2n ** 255n, minOutputAmount: 1n }

async function problemsOf(checked: SignedQuote, options = {}): Promise<unknown> {
  try {
    await verifyQuote(checked, { ...terms, limits: LIMITS, params, ...options })
    return []
  } catch (error) {
    if (!(error instanceof QuoteVerificationError)) throw error
    return error.problems
  }
}

let offer: SignedQuote
beforeAll(async () => {
  offer = await offerOf()
})

it('verifyQuote accepts an offer made by the implementation of the service', async () => {
  expect(await problemsOf(offer)).toEqual([])
  expect(await problemsOf(offer, { params: undefined })).toEqual([])
  const bought = await offerOf({ orderType: 'EXACT_OUTPUT', inputAmount: 5n, outputAmount: 6n })
  expect(await problemsOf(bought, { params: { ...params, orderType: 'EXACT_OUTPUT', amount: 6n } })).toEqual(
    [],
  )
})

describe('verifyQuote rejects a signed offer that differs from the request', () => {
  it.each([
    ['user_mismatch', { user: other }],
    ['input_token_mismatch', { inputToken: other }],
    ['output_token_mismatch', { outputToken: other }],
    ['order_type_mismatch', { orderType: 'EXACT_OUTPUT' }],
    ['output_chain_mismatch', { outputChainId: 1 }],
    ['fixed_amount_mismatch', { inputAmount: 10n ** 18n + 1n }],
    ['equal_tokens', { outputToken: params.inputToken }],
    ['deposit_deadline_passed', { depositDeadline: 999_999 }],
    // Deployed contracts refuse equal deadlines, and keep a transfer for such an offer for good.
    ['fill_deadline_too_early', { fillDeadline: 1_000_300 }],
    ['fill_deadline_too_far', { fillDeadline: 1_000_000 + 2 * 86_400 + 1 }],
  ] as const)('with %s', async (problem, changes) => {
    const asked = {
      ...params,
      outputToken: problem === 'equal_tokens' ? params.inputToken : params.outputToken,
    }
    expect(await problemsOf(await offerOf(changes), { params: asked })).toEqual([problem])
  })

  it('until its deposit deadline, in which second a deposit still counts', async () => {
    const last = await offerOf({ depositDeadline: 1_000_000 })
    expect(await problemsOf(last, { minSecondsLeft: 0 })).toEqual([])
  })

  it('with amount_out_of_range, which no limits allow', async () => {
    expect(await problemsOf(await offerOf({ outputAmount: 0n }))).toEqual([
      'price_too_bad',
      'amount_out_of_range',
    ])
  })

  it.each([undefined, { ...params, destinationChainId: 10 }])(
    'with output_chain_mismatch for another chain, on which no contract pays, with the request %o',
    async (asked) => {
      const elsewhere = await offerOf({ outputChainId: 10 })
      expect(await problemsOf(elsewhere, { params: asked })).toEqual(['output_chain_mismatch'])
    },
  )

  it('with chain_mismatch when the request is for another chain', async () => {
    const elsewhere = { ...params, chainId: 1, destinationChainId: 31337 }
    expect(await problemsOf(offer, { params: elsewhere })).toEqual(['chain_mismatch'])
  })

  it('unless the user agrees to a longer lock', async () => {
    const long = await offerOf({ fillDeadline: 2_000_000 })
    expect(await problemsOf(long, { maxLockSeconds: 1_000_000 })).toEqual([])
  })
})

describe('verifyQuote rejects a signature that the contract rejects, also with the right order id,', () => {
  const spoilt = (signature: string) => {
    const hex = signature as SignedQuote['signature']
    return { ...offer, signature: hex, ...identify(offer.quote, hex) }
  }
  it.each([
    ['signature_length', () => offer.signature.slice(0, -2)],
    ['signature_v', () => `${offer.signature.slice(0, -2)}00`],
    ['signature_high_s', () => highSTwin(offer.signature)],
    ['signature_mismatch', () => `0x${'11'.repeat(64)}1b`],
    ['signature_mismatch', () => `0x${'ff'.repeat(32)}${'11'.repeat(32)}1b`],
  ])('with %s', async (problem, change) => {
    expect(await problemsOf(spoilt(change()))).toContain(problem)
  })

  it('when it is for another solver, quote, name or contract', async () => {
    const elsewhere = { domain: { ...terms.domain, chainId: 1 } }
    expect(await problemsOf(offer, elsewhere)).toEqual(['signature_mismatch'])
    const renamed = await problemsOf(offer, { protocolName: 'Other' })
    expect(renamed).toEqual(['signature_mismatch', 'order_id_mismatch', 'deposit_address_mismatch'])
    const swapped = { ...offer, quote: { ...offer.quote, solver: user.address } }
    expect(await problemsOf(swapped)).toContain('signature_mismatch')
  })
})

it('verifyQuote rejects an order id and a deposit address that are not those of the offer', async () => {
  expect(await problemsOf({ ...offer, orderId: `0x${'ab'.repeat(32)}` })).toEqual(['order_id_mismatch'])
  expect(await problemsOf({ ...offer, depositAddress: other })).toEqual(['deposit_address_mismatch'])
  const foreign = { settlement: other, domain: terms.domain }
  expect(await problemsOf(offer, foreign)).toEqual(['deposit_address_mismatch'])
})

it('verifyQuote rejects values that do not fit the members of the struct', async () => {
  const misfit = { ...offer, quote: { ...offer.quote, fillDeadline: 2 ** 32 } }
  expect(await problemsOf(misfit, { maxLockSeconds: 2 ** 40 })).toEqual(['malformed'])
  expect(await problemsOf({ ...offer, signature: '0xzz' })).toContain('signature_mismatch')
  expect(await problemsOf({ ...offer, signature: `0x${'zz'.repeat(64)}1b` })).toEqual(['malformed'])
})

describe('verifyQuote rejects an offer that the contract would reject in its present state', () => {
  const [total, ...others] = WILLING.solvers
  it.each([
    ['solver_not_registered', { solvers: [total, 0n, 0n, 0, false] }],
    ['bond_too_small', { solvers: [124_937_499n, ...others] }],
    ['bond_too_small', { solvers: [total, total - 124_937_499n, 0n, 0, true] }],
    ['bond_too_small', { solvers: [total, 5n, total, 0, true] }],
    ['below_minimum_order', { MIN_ORDER: quote.outputAmount + 1n }],
    ['nonce_used', { isNonceUsed: true }],
  ] as const)('with %s', async (problem, changes) => {
    const client = createContractClient({ ...WILLING, ...changes })
    expect(await problemsOf(offer, { client })).toEqual([problem])
  })

  it('with all problems, and accepts one at the limits', async () => {
    const solvers = [0n, 0n, 0n, 0, false] as const
    const client = createContractClient({ ...WILLING, solvers, MIN_ORDER: 2n ** 255n, isNonceUsed: true })
    const all = ['solver_not_registered', 'bond_too_small', 'below_minimum_order', 'nonce_used']
    expect(await problemsOf(offer, { client })).toEqual(all)
    const atBounds = { solvers: [124_937_500n, ...others] as const, MIN_ORDER: quote.outputAmount }
    expect(await problemsOf(offer, { client: createContractClient({ ...WILLING, ...atBounds }) })).toEqual([])
  })

  it('unless the contract does not have the view that a check needs', async () => {
    const poor = { solvers: [0n, 0n, 0n, 0, true] as const, MIN_ORDER: 2n ** 255n }
    const problems = (missing: Partial<ContractState>) =>
      problemsOf(offer, { client: createContractClient({ ...WILLING, ...poor, ...missing }) })
    expect(await problems({ BOND_RESERVATION_BPS: undefined })).toEqual(['below_minimum_order'])
    expect(await problems({ MIN_ORDER: undefined })).toEqual(['bond_too_small'])
  })

  it('when a slash leaves less than is unstaking, which is no free bond', async () => {
    const client = createContractClient({ ...WILLING, solvers: [5n, 0n, 10n, 0, true] })
    expect(await problemsOf(await offerOf({ outputAmount: 19n }), { client })).toEqual([])
    expect(await problemsOf(await offerOf({ outputAmount: 20n }), { client })).toEqual(['bond_too_small'])
  })
})

describe('the limits of verifyQuote', () => {
  const { inputAmount, outputAmount } = quote
  const exact = { maxInputAmount: inputAmount, minOutputAmount: outputAmount }

  it.each([
    ['EXACT_INPUT', { ...exact, minOutputAmount: outputAmount + 1n }],
    ['EXACT_INPUT', { ...exact, maxInputAmount: inputAmount - 1n }],
    ['EXACT_OUTPUT', { ...exact, minOutputAmount: outputAmount + 1n }],
    ['EXACT_OUTPUT', { ...exact, maxInputAmount: inputAmount - 1n }],
  ] as const)('are compared with the signed quote of order type %s', async (orderType, limits) => {
    const signed = await offerOf({ orderType })
    expect(await problemsOf(signed, { params: undefined, limits: exact })).toEqual([])
    expect(await problemsOf(signed, { params: undefined, limits })).toEqual(['price_too_bad'])
  })
})

describe('the time that verifyQuote wants to be left', () => {
  const at = (time: number) => ({ client: createContractClient({ ...WILLING, time }), now: time })
  const { depositDeadline } = quote

  it.each([
    ['CONTRACT', 15],
    ['ADDRESS', 120],
  ] as const)('is, in mode %s, %i seconds by the clock and by the chain', async (depositMode, seconds) => {
    const wanted = { params: { ...params, depositMode } }
    const last = at(depositDeadline - seconds)
    const late = at(depositDeadline - seconds + 1)
    expect(await problemsOf(offer, { ...wanted, ...last })).toEqual([])
    for (const times of [late, { ...last, now: late.now }, { ...last, client: late.client }])
      expect(await problemsOf(offer, { ...wanted, ...times })).toEqual(['deposit_deadline_too_near'])
    expect(await problemsOf(offer, { ...wanted, ...late, minSecondsLeft: seconds - 1 })).toEqual([])
    // What is no number protects as well.
    expect(await problemsOf(offer, { ...wanted, ...last, minSecondsLeft: Number.NaN })).toEqual([
      'deposit_deadline_too_near',
    ])
  })
})

const EXACT = { maxInputAmount: quote.inputAmount, minOutputAmount: quote.outputAmount }
const ODD_LIMITS = [
  undefined,
  null,
  {},
  { ...EXACT, minOutputAmount: undefined },
  { ...EXACT, minOutputAmount: 0n },
  { ...EXACT, maxInputAmount: -1n },
  { ...EXACT, minOutputAmount: Number(quote.outputAmount) },
  { ...EXACT, maxInputAmount: String(quote.inputAmount) },
]

it.each([
  ...ODD_LIMITS.map((limits) => ({ limits })),
  ...['ADDRESS', 'address', '', null].map((depositMode) => ({ depositMode })),
  ...['minSecondsLeft', 'maxLockSeconds', 'now'].flatMap((name) =>
    ['', '15', false, [], {}].map((value) => ({ [name]: value })),
  ),
])('verifyQuote refuses odd options before any call: %o', async (options) => {
  const client = createClient({ transport: custom({ request: () => expect.fail('the node was asked') }) })
  await expect(problemsOf(offer, { ...options, client })).rejects.toThrow(TypeError)
})

it('a node that serves another chain has verifyQuote throw, and says nothing of the contract', async () => {
  const client = createContractClient({ ...WILLING, isNonceUsed: true, chainId: 10 })
  await expect(problemsOf(offer, { client })).rejects.toThrow(ChainReadError)
})

describe('the deposit mode of verifyQuote', () => {
  const told = { CONTRACT: nonceWithMode('CONTRACT', 7n), ADDRESS: nonceWithMode('ADDRESS', 7n), nothing: 7n }

  it.each([
    ['ADDRESS', told.CONTRACT, ['mode_mismatch']],
    ['ADDRESS', told.ADDRESS, []],
    ['ADDRESS', told.nothing, []],
    ['CONTRACT', told.CONTRACT, []],
    ['CONTRACT', told.ADDRESS, []],
  ] as const)('%s with the nonce %i has the problems %j', async (depositMode, nonce, problems) => {
    const signed = await offerOf({ nonce })
    expect(await problemsOf(signed, { params: { ...params, depositMode } })).toEqual(problems)
    expect(await problemsOf(signed, { params: undefined, depositMode })).toEqual(problems)
  })
})
