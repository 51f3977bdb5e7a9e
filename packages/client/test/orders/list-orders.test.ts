import { describe, expect, it } from 'vitest'
import { createAggregatorClient, type ListedOrder, type ListOrdersParams } from '../../src/index.js'
import { ADDRESS, orderIdOf, sampleOrder } from '../samples.js'
import { sendJson, serve } from '../server.js'

const NO_TERMS = {
  solver: undefined,
  inputToken: undefined,
  inputAmount: undefined,
  outputToken: undefined,
  outputAmount: undefined,
  outputChainId: undefined,
  fillDeadline: undefined,
}

/** A client of an instance with these answers, one after the other, and the paths that it was asked for. */
async function clientOf(...bodies: readonly unknown[]) {
  const paths: string[] = []
  const { url } = await serve((request, response) => {
    paths.push(request.url ?? '')
    const body = bodies[paths.length - 1]
    if (body === 'too many') sendJson(response, 429, { error: 'Too many.', code: 'RATE_LIMITED' })
    else sendJson(response, 200, body)
  })
  return { client: createAggregatorClient({ baseUrl: url }), paths }
}

const page = (numbers: readonly number[], nextPageToken = '') => ({
  orders: numbers.map(sampleOrder),
  nextPageToken,
})

async function idsOf(orders: AsyncIterable<ListedOrder>): Promise<string[]> {
  const ids: string[] = []
  for await (const { orderId } of orders) ids.push(orderId)
  return ids
}

describe('a page of orders', () => {
  it('has the orders with their steps, and amounts as bigint', async () => {
    const { client, paths } = await clientOf(page([1], 'p2'))
    const { inputAmount, outputAmount, ...order } = sampleOrder(1)
    expect(await client.listOrders(1)).toEqual({
      orders: [{ ...order, inputAmount: 5n, outputAmount: 7n, deposited: undefined, refunded: undefined }],
      nextPageToken: 'p2',
    })
    expect(paths).toEqual(['/v1/1/orders'])
  })

  it('may have an order without solver and terms, and a step without transaction', async () => {
    const { orderId, chainId, state, user } = sampleOrder(1)
    const unread = { orderId, chainId, state, user, settled: { blockNumber: 9 } }
    const { client } = await clientOf({ orders: [unread], nextPageToken: '' })
    const settled = { blockNumber: 9, blockTime: undefined, transactionHash: undefined }
    const { orders } = await client.listOrders(1)
    expect(orders).toEqual([{ ...unread, ...NO_TERMS, settled, deposited: undefined, refunded: undefined }])
  })

  it('is asked for with every parameter that is given', async () => {
    const { client, paths } = await clientOf(page([]), page([]))
    const params = {
      user: ADDRESS,
      solver: ADDRESS,
      state: 'SETTLED',
      pageSize: 0,
      pageToken: 'a&b',
    } as const
    await client.listOrders(10, params)
    await client.listOrders(10, { user: undefined, state: 'REFUNDED' })
    expect(paths).toEqual([
      `/v1/10/orders?user=${ADDRESS}&solver=${ADDRESS}&state=SETTLED&pageSize=0&pageToken=a%26b`,
      '/v1/10/orders?state=REFUNDED',
    ])
  })

  it.each([
    [{ user: '0x12' }, 'user', 'must be a 20-byte address in hex with 0x'],
    [{ solver: null }, 'solver', 'must be a 20-byte address in hex with 0x'],
    [{ state: 'NONE' }, 'state', 'must be one of DEPOSITED, SETTLED, REFUNDED'],
    [{ pageSize: -1 }, 'pageSize', 'must be an integer of 0 to 4294967295'],
    [{ pageSize: '5' }, 'pageSize', 'must be an integer of 0 to 4294967295'],
    [{ pageToken: '' }, 'pageToken', 'must be a text'],
    [
      { users: [ADDRESS] },
      'users',
      expect.stringMatching(/^is not a parameter: the parameters are user, solver/),
    ],
    [{ toString: 'x' }, 'toString', expect.stringMatching(/^is not a parameter/)],
    [null, 'params', 'must be an object, or be left out'],
  ])('with the parameters %j is refused without a request', async (params, field, message) => {
    const { client, paths } = await clientOf()
    const refusal = { name: 'AggregatorError', reason: 'INVALID_ARGUMENT', violations: [{ field, message }] }
    await expect(client.listOrders(1, params as ListOrdersParams)).rejects.toMatchObject(refusal)
    await expect(idsOf(client.listAllOrders(1, params as ListOrdersParams))).rejects.toMatchObject(refusal)
    expect(paths).toEqual([])
  })
})

/** What a hostile instance may write into each field of an order. */
const BAD_FIELDS: Readonly<Record<string, readonly unknown[]>> = {
  orderId: ['0x12', 5, undefined],
  chainId: ['1', -1, 1.5, undefined],
  state: ['\u001b[2J', 'a b', '', 5, null, undefined],
  user: ['0x12', null, undefined],
  solver: ['0x12', null],
  inputToken: ['0x12', 5],
  inputAmount: ['1e5', '-1', 5, '', '1'.repeat(80)],
  outputToken: ['', {}],
  outputAmount: ['0x5', null],
  outputChainId: ['1', null],
  fillDeadline: ['soon', 1.5],
  ...Object.fromEntries(
    ['deposited', 'settled', 'refunded'].map((step) => [
      step,
      [
        null,
        [],
        'done',
        {},
        { blockNumber: '9' },
        { blockNumber: 9, blockTime: 'today' },
        { blockNumber: 9, blockTime: null },
        { blockNumber: 9, transactionHash: '0x12' },
        { blockNumber: 9, transactionHash: '<a>' },
      ],
    ]),
  ),
}

describe('a wrong answer', () => {
  it.each(Object.keys(BAD_FIELDS))('is refused for each wrong value of %s of an order', async (field) => {
    const values = BAD_FIELDS[field] ?? []
    const orders = values.map((value) => ({ ...sampleOrder(1), [field]: value }))
    const { client } = await clientOf(...orders.map((order) => ({ orders: [order], nextPageToken: '' })))
    for (const value of values)
      await expect(client.listOrders(1), String(value)).rejects.toMatchObject({ reason: 'ANSWER_INVALID' })
    // What a single order does not repeat is known (test/other-instances.test.ts).
    const isKnown = ['chainId', 'orderId'].includes(field)
    const wrong = values.filter((value) => value !== undefined || !isKnown)
    const single = await clientOf(...wrong.map((value) => ({ ...sampleOrder(1), [field]: value })))
    for (const value of wrong)
      await expect(single.client.getOrder(1, orderIdOf(1)), String(value)).rejects.toMatchObject({
        reason: 'ANSWER_INVALID',
      })
  })

  const needed = Object.keys(NO_TERMS).filter((field) => field !== 'outputChainId')
  it.each(needed)('is refused for a single order without %s', async (field) => {
    const { client } = await clientOf({ ...sampleOrder(1), [field]: undefined })
    await expect(client.getOrder(1, orderIdOf(1))).rejects.toMatchObject({ reason: 'ANSWER_INVALID' })
  })

  it.each([
    [],
    { nextPageToken: '' },
    { orders: {}, nextPageToken: '' },
    { orders: [null], nextPageToken: '' },
    { orders: [] },
    { orders: [], nextPageToken: null },
    { orders: [], nextPageToken: 5 },
  ])('is refused for the page %j', async (body) => {
    const { client } = await clientOf(body)
    await expect(client.listOrders(1)).rejects.toMatchObject({ reason: 'ANSWER_INVALID' })
  })
})

describe('the list of all orders', () => {
  it('has the orders of each page, asked for with the same filters', async () => {
    const { client, paths } = await clientOf(page([1, 2], 'p2'), page([], 'p3'), page([3]))
    const all = client.listAllOrders(1, { user: ADDRESS, state: undefined })
    expect(await idsOf(all)).toEqual([orderIdOf(1), orderIdOf(2), orderIdOf(3)])
    const query = `/v1/1/orders?user=${ADDRESS}&pageSize=200`
    expect(paths).toEqual([query, `${query}&pageToken=p2`, `${query}&pageToken=p3`])
  })

  it('begins with the page of a token, and has pages of the size that is asked for', async () => {
    const { client, paths } = await clientOf(page([2]))
    await idsOf(client.listAllOrders(1, { pageSize: 5, pageToken: 'p2' }))
    expect(paths).toEqual(['/v1/1/orders?pageSize=5&pageToken=p2'])
  })

  it('throws when a page fails, so that a part does not look like the whole', async () => {
    const limited = await clientOf(page([1], 'p2'), 'too many')
    await expect(idsOf(limited.client.listAllOrders(1))).rejects.toMatchObject({ reason: 'RATE_LIMITED' })
    const leaving = new AbortController()
    const { client, paths } = await clientOf(page([1], 'p2'), page([2]))
    const cancelled = (async () => {
      for await (const _order of client.listAllOrders(1, {}, { signal: leaving.signal })) leaving.abort()
    })()
    await expect(cancelled).rejects.toMatchObject({ reason: 'CANCELLED' })
    expect(paths).toHaveLength(1)
  })

  it('ends with ANSWER_INVALID at a page that names itself as the next one', async () => {
    const { client, paths } = await clientOf(page([], 'p2'), page([], 'p2'), page([], 'p2'))
    await expect(idsOf(client.listAllOrders(1))).rejects.toMatchObject({ reason: 'ANSWER_INVALID' })
    expect(paths).toHaveLength(2)
  })
})
