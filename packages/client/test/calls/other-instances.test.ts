import type { Hex } from 'viem'
import { describe, expect, it } from 'vitest'
import { identifyOffers, limitsOf, verifyQuote } from '../../src/index.js'
import { createContractClient } from '../offers/contract-client.js'
import { offerOf, WANTED as params, QUOTE as quote, TERMS } from '../offers/signed-offer.js'
import { ADDRESS, orderIdOf } from '../samples.js'
import { clientAnswered } from '../server.js'

// Answers of an instance with no more fields than the specification names, in the shapes that deployed ones have.

const OTHER: Hex = `0x${'22'.repeat(20)}`
const terms = { ...TERMS, client: createContractClient(), params, limits: limitsOf(quote) }
const amounts = {
  inputAmount: `${quote.inputAmount}`,
  outputAmount: `${quote.outputAmount}`,
  nonce: `${quote.nonce}`,
}
const sentQuote = { ...quote, ...amounts, orderType: 0 }

const clientOf = async (...answered: Parameters<typeof clientAnswered>) =>
  (await clientAnswered(...answered)).client

async function sentAnswer(changes: object = {}) {
  const { signature: solverSignature } = await offerOf()
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
    await expect(verifyQuote(best, terms)).resolves.toBeUndefined()
  })

  it('keeps what the instance says, so that verifyQuote sees a wrong deposit address', async () => {
    const sent = await sentAnswer({ depositAddress: OTHER })
    const { best } = await (await clientOf(sent, { identifyOffer: identifyOffers(terms) })).getQuote(params)
    expect(best.depositAddress).toBe(OTHER)
    await expect(verifyQuote(best, terms)).rejects.toMatchObject({
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

describe('an order of an instance without its chain', () => {
  const orderId = orderIdOf(1)
  const parties = { user: ADDRESS, solver: ADDRESS, inputToken: ADDRESS, outputToken: OTHER }
  const sent = { orderId, ...parties, inputAmount: '5', outputAmount: '7', fillDeadline: 1900 }

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
