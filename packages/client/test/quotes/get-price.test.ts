import { expect, it } from 'vitest'
import { createAggregatorClient, type PriceParams } from '../../src/index.js'
import { ADDRESS, PARAMS } from '../samples.js'
import { clientAnswered, sendJson, serve } from '../server.js'

const best = { solver: ADDRESS, name: 'Ada', inputAmount: '1', outputAmount: '5' }

it('a price comes with its amounts, of a swap without a user', async () => {
  const sent: unknown[] = []
  const { url } = await serve(async (request, response) => {
    sent.push(request.method, request.url, JSON.parse((await request.toArray()).join('')))
    sendJson(response, 200, { best, offers: 2, asOf: 1_700_000_000_000 })
  })
  const answer = await createAggregatorClient({ baseUrl: url }).getPrice(PARAMS)
  expect(answer).toEqual({
    best: { ...best, inputAmount: 1n, outputAmount: 5n },
    offers: 2,
    asOf: 1_700_000_000_000,
  })
  const { inputToken, outputToken, orderType } = PARAMS
  expect(sent).toEqual(['POST', '/v1/1/price', { inputToken, outputToken, orderType, amount: '1' }])
})

it.each([
  ['no price', { offers: 0, asOf: 1 }],
  ['an amount that is none', { best: { ...best, outputAmount: 5 }, offers: 1, asOf: 1 }],
  ['a time that is none', { best, offers: 1, asOf: 'now' }],
])('an answer with %s is not understood', async (_name, body) => {
  const { client } = await clientAnswered(body)
  await expect(client.getPrice(PARAMS)).rejects.toMatchObject({ reason: 'ANSWER_INVALID' })
})

it('a price of amount 0 of no token is refused without a request', async () => {
  const client = createAggregatorClient({ baseUrl: 'http://127.0.0.1:9' })
  const bad = { ...PARAMS, amount: 0n, inputToken: undefined } as unknown as PriceParams
  const error = await client.getPrice(bad).catch((thrown) => thrown)
  expect(error).toMatchObject({ reason: 'INVALID_ARGUMENT' })
  expect(error.violations.map(({ field }: { field: string }) => field)).toEqual(['inputToken', 'amount'])
})
