import type { Hex } from 'viem'
import { mnemonicToAccount } from 'viem/accounts'
import { describe, expect, it } from 'vitest'
import { signQuote } from '../../../../test/support/chain/signed-quote.js'
import { toContractQuote } from '../../../protocol/src/quotes/quote.js'
import {
  type AggregatorClientOptions,
  createAggregatorClient,
  identifyOffers,
  limitsOf,
  type QuoteParams,
  type SignedQuote,
  verifyQuote,
} from '../../src/index.js'
import { createContractClient, WILLING } from '../offers/contract-client.js'
import { ADDRESS, orderIdOf } from '../samples.js'
import { sendJson, serve } from '../server.js'

// Answers of an instance with no more fields than the specification names, in the shapes that deployed ones have.

const solver = mnemonicToAccount('test test test test test test test test test test test junk')
const OTHER: Hex = `0x${'22'.repeat(20)}`
const NOW = 1_000_000
const terms = {
  client: createContractClient({ ...WILLING, chainId: 1 }),
  chainId: 1,
  settlement: ADDRESS,
  protocolName: 'Service',
  domain: { name: 'Service', version: '1', chainId: 1, verifyingContract: ADDRESS },
  depositProxyCodeHash: `0x${'c0'.repeat(32)}`,
} as const
const params: QuoteParams = {
  chainId: 1,
  inputToken: ADDRESS,
  outputToken: OTHER,
  orderType: 'EXACT_INPUT',
  amount: 5n,
  user: ADDRESS,
  depositMode: 'CONTRACT',
}
const quote: SignedQuote['quote'] = {
  solver: solver.address,
  user: ADDRESS,
  inputToken: ADDRESS,
  inputAmount: 5n,
  outputToken: OTHER,
  outputAmount: 7n,
  orderType: 'EXACT_INPUT',
  outputChainId: 1,
  depositDeadline: NOW + 300,
  fillDeadline: NOW + 420,
  nonce: 1n,
}
const sentQuote = { ...quote, inputAmount: '5', outputAmount: '7', orderType: 0, nonce: '1' }

/** A client of an instance that answers so. */
async function clientOf(body: object, options: Omit<AggregatorClientOptions, 'baseUrl'> = {}) {
  const { url } = await serve((_request, response) => sendJson(response, 200, body))
  return createAggregatorClient({ baseUrl: url, ...options })
}

async function sentAnswer(changes: object = {}) {
  const solverSignature = await signQuote(solver, terms.domain, toContractQuote(quote))
  // The signatures of alternatives are kept back.
  return {
    quote: sentQuote,
    solverSignature,
    alternativeQuotes: [{ quote: sentQuote, solverSignature: '' }],
    ...changes,
  }
}

describe('a quote of an instance without ids', () => {
  it('has the order id and the deposit address that the contract computes, and holds against it', async () => {
    const client = await clientOf(await sentAnswer(), { identifyOffer: identifyOffers(terms) })
    const { quoteId, best, alternatives } = await client.getQuote(params)
    expect([quoteId, alternatives]).toEqual([undefined, []])
    expect(best.quote).toEqual(quote)
    await expect(
      verifyQuote(best, { ...terms, params, limits: limitsOf(quote), now: NOW }),
    ).resolves.toBeUndefined()
  })

  it('keeps what the instance says, so that verifyQuote sees a wrong deposit address', async () => {
    const sent = await sentAnswer({ depositAddress: OTHER })
    const { best } = await (await clientOf(sent, { identifyOffer: identifyOffers(terms) })).getQuote(params)
    expect(best.depositAddress).toBe(OTHER)
    await expect(
      verifyQuote(best, { ...terms, params, limits: limitsOf(quote), now: NOW }),
    ).rejects.toMatchObject({
      problems: ['deposit_address_mismatch'],
    })
  })

  it.each([
    ['without the option', {}, {}],
    ['of another chain', {}, { identifyOffer: identifyOffers({ ...terms, chainId: 2 }) }],
    [
      'whose values fit no contract',
      { quote: { ...sentQuote, fillDeadline: 2 ** 40 } },
      { identifyOffer: identifyOffers(terms) },
    ],
  ])('is refused %s', async (_name, changes, options) => {
    const client = await clientOf(await sentAnswer(changes), options)
    await expect(client.getQuote(params)).rejects.toMatchObject({
      reason: 'ANSWER_INVALID',
      message: expect.stringContaining('an offer without an order id, which needs the option identifyOffer'),
    })
  })
})

it('verifyQuote names what an offer lacks that an app has put together', async () => {
  const signature = await signQuote(solver, terms.domain, toContractQuote(quote))
  const raw = { quote, signature } as SignedQuote
  await expect(
    verifyQuote(raw, { ...terms, limits: limitsOf(quote), params, now: NOW }),
  ).rejects.toMatchObject({
    problems: ['order_id_mismatch', 'deposit_address_mismatch'],
  })
})

describe('an order of an instance without its chain', () => {
  const orderId = orderIdOf(1)
  const terms = { user: ADDRESS, solver: ADDRESS, inputToken: ADDRESS, outputToken: OTHER }
  const sent = { orderId, ...terms, inputAmount: '5', outputAmount: '7', fillDeadline: 1900 }

  it('is of the chain that it was asked for, and every field has its value', async () => {
    const order = await (await clientOf({ ...sent, state: 'DEPOSITED' })).getOrder(1, orderId)
    for (const other of [{ orderId: orderIdOf(2) }, { chainId: 5 }])
      for (const state of ['NONE', 'SETTLED'])
        await expect(
          (await clientOf({ ...sent, ...other, state })).getOrder(1, orderId),
        ).rejects.toMatchObject({ reason: 'ANSWER_INVALID' })
    expect(order).toEqual({
      ...sent,
      state: 'DEPOSITED',
      chainId: 1,
      outputChainId: 1,
      inputAmount: 5n,
      outputAmount: 7n,
      deposited: undefined,
      settled: undefined,
      refunded: undefined,
    })
  })

  it('is NONE without its zeros', async () => {
    const client = await clientOf({ ...sent, user: `0x${'0'.repeat(40)}`, inputAmount: '0', state: 'NONE' })
    expect(await client.getOrder(1, orderId)).toEqual({ state: 'NONE', chainId: 1, orderId })
  })

  it('is waited for by polling, since there is no stream', async () => {
    const { url } = await serve(({ url = '' }, response) =>
      url.startsWith('/v1/1/order/')
        ? sendJson(response, 200, { ...sent, state: 'SETTLED' })
        : sendJson(response, 404, { message: 'Route not found', error: 'Not Found', statusCode: 404 }),
    )
    const order = await createAggregatorClient({ baseUrl: url }).waitForOrder(1, orderId)
    expect([order.state, order.chainId]).toEqual(['SETTLED', 1])
  })
})

it('a removed solver has the address that was asked for', async () => {
  const client = await clientOf({ status: 'removed' })
  const unregistration = {
    chainId: 1,
    address: ADDRESS,
    timestamp: 1,
    signature: `0x${'12'.repeat(65)}`,
  } as const
  expect(await client.unregisterSolver(unregistration)).toBe(ADDRESS)
})

it('a check of an offer with its order id is refused when it is of another one', async () => {
  const answer = { orderId: orderIdOf(2), state: 'VALID', expiresAt: 1, serverTime: 1 }
  const client = await clientOf(answer)
  const signed = { quote, signature: '0x12' } as const
  expect(await client.checkOffer(1, signed)).toMatchObject({ state: 'VALID' })
  expect(await client.checkOffer(1, { ...signed, orderId: orderIdOf(2) })).toMatchObject({ state: 'VALID' })
  await expect(client.checkOffer(1, { ...signed, orderId: orderIdOf(1) })).rejects.toMatchObject({
    reason: 'ANSWER_INVALID',
  })
})
