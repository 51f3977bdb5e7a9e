import { describe, expect, it } from 'vitest'
import { createTraffic } from '../../support/chain/event-traffic.js'
import { eventually } from '../../support/eventually.js'
import { startModelChain } from '../../support/model-chain/start-model-chain.js'
import { startService } from '../../support/service/service.js'
import { shared } from '../../support/shared.js'
import { webSocket } from '../../support/streams/transports.js'
import { expectedOrders, type OrderMessage } from './chain-orders.js'

const STATES = ['DEPOSITED', 'SETTLED', 'REFUNDED'] as const
const MAX_PAGE = 200
/** A second chain, whose node never answers. */
const DEAD_CHAIN = 4242
const UNKNOWN_ORDER = `0x${'ab'.repeat(32)}`
const TOKEN_RULE = 'must be the nextPageToken of a page with the same filters'

/** Waits until the service has published all events of the chain. */
async function published(): Promise<void> {
  const { number } = await traffic.head()
  await eventually(
    async () => (await service.get('/health')).body.chains[0],
    ({ status, headBlock }) => status === 'ok' && headBlock === number,
  )
}

const chain = await shared(startModelChain({ bonded: 0 }))
const traffic = await createTraffic(chain, { seed: 21 })
await traffic.run({ events: 360, blocks: 30 })
const dead = { ...chain, chainId: DEAD_CHAIN, devnet: { ...chain.devnet, rpcUrl: 'http://127.0.0.1:9' } }
const service = await shared(
  startService([chain, dead], {
    [`START_BLOCK_${chain.chainId}`]: '0',
    MAX_REORG_DEPTH: '2',
  }),
)
await published()
// The first orders came in a range of old blocks, and these come block by block.
await traffic.run({ events: 60, blocks: 10 })
await published()
const orders = await expectedOrders(chain)
expect(orders.length).toBeGreaterThan(MAX_PAGE + 1)

interface Page {
  orders: OrderMessage[]
  nextPageToken: string
}

const ask = (query: Record<string, string>, chainId: number = chain.chainId, of = service) => {
  return of.get(`/v1/${chainId}/orders?${new URLSearchParams(query)}`)
}

async function list(query: Record<string, string> = {}): Promise<Page> {
  const { status, body } = await ask(query)
  expect([status, body.code]).toEqual([200, undefined])
  return body
}

/** All pages of a list. */
async function listAll(query: Record<string, string>, pageSize: number): Promise<OrderMessage[][]> {
  const pages: OrderMessage[][] = []
  let pageToken = ''
  do {
    const page = await list({ ...query, pageSize: String(pageSize), ...(pageToken && { pageToken }) })
    pages.push(page.orders)
    pageToken = page.nextPageToken
  } while (pageToken !== '')
  return pages
}

const idsOf = (some: readonly OrderMessage[]) => some.map(({ orderId }) => orderId)

describe('the list of orders', () => {
  it('has every order of the chain, newest first, with what the contract has of it and its steps', async () => {
    const pages = await listAll({}, MAX_PAGE)
    expect(pages.flat()).toEqual(orders)
    const kinds = orders.map((order) => [order.deposited && 'deposited', order.state].join(' '))
    expect(new Set(kinds)).toEqual(
      new Set([
        'deposited DEPOSITED',
        'deposited SETTLED',
        'deposited REFUNDED',
        // Address deposits, which have no Deposited event.
        ' SETTLED',
        ' REFUNDED',
      ]),
    )
  })

  it('has the orders of each filter, and of all together', async () => {
    const [{ user, solver }] = orders as [OrderMessage]
    const together = STATES.map((state) => ({ user, solver, state }))
    const filters: Record<string, string>[] = [{ user }, { solver }, ...together]
    for (const filter of filters) {
      const isWanted = (order: OrderMessage) =>
        Object.entries(filter).every(([name, value]) => order[name as keyof OrderMessage] === value)
      const pages = await listAll(filter, 90)
      expect(idsOf(pages.flat()), JSON.stringify(filter)).toEqual(idsOf(orders.filter(isWanted)))
    }
  })
})

describe('pages', () => {
  it.each([
    ['no size', undefined, 50],
    ['the size 0', '0', 50],
    ['the size 201', '201', MAX_PAGE],
  ])('with %s have the right number of orders', async (_, pageSize, count) => {
    const page = await list(pageSize === undefined ? {} : { pageSize })
    expect(page.orders).toEqual(orders.slice(0, count))
    expect(page.nextPageToken).not.toBe('')
  })

  it('end with an empty token when the last one is full', async () => {
    const refunded = orders.filter(({ state }) => state === 'REFUNDED').length
    const page = await list({ state: 'REFUNDED', pageSize: String(refunded) })
    expect([page.orders.length, page.nextPageToken]).toEqual([refunded, ''])
    expect((await list({ pageToken: '', pageSize: '1' })).orders).toEqual(orders.slice(0, 1))
  })
})

describe('a list of orders with a bad field is rejected with its name:', () => {
  it.each<[string, Record<string, string>]>([
    ['a user that is no address', { user: 'nobody' }],
    ['the state NONE', { state: 'NONE' }],
    ['an unknown state', { state: 'FILLED' }],
    ['a negative page size', { pageSize: '-1' }],
  ])('%s', async (_, query) => {
    const { status, body } = await ask(query)
    const details = [{ field: Object.keys(query)[0], message: expect.any(String) }]
    expect([status, body.code, body.details]).toEqual([400, 'INVALID_ARGUMENT', details])
  })
})

describe('a page token', async () => {
  const [{ user }] = orders as [OrderMessage]
  /** Of the second page of all orders. */
  const all = (await list({ pageSize: '1' })).nextPageToken
  const own = (await list({ pageSize: '1', user })).nextPageToken
  const stream = webSocket.open(service.url)
  await stream.connected()
  const event = stream.cursor()
  stream.leave()

  it('continues with the filters of its page, in any letter case and with another page size', async () => {
    const page = await list({ pageSize: '2', user: user.toLowerCase(), pageToken: own })
    expect(page.orders).toEqual(orders.filter((order) => order.user === user).slice(1, 3))
  })

  it.each<[string, Record<string, string>, number?]>([
    ['of a list with a filter', { pageToken: own }],
    ['of a list without a filter', { state: 'DEPOSITED', pageToken: all }],
    ['of another user', { user: `0x${'ab'.repeat(20)}`, pageToken: own }],
    ['of another chain', { pageToken: all }, DEAD_CHAIN],
    ['that is the cursor of an event', { pageToken: event }],
    ['that is cut off', { pageToken: all.slice(0, -1) }],
    ['with a position that is too large', { pageToken: all.replace(/^\w+/, 'zzzzzzzzzzz') }],
    ['without a position', { pageToken: all.replace(/^\w+-\w+/, '-') }],
    ['of other characters', { pageToken: "' or 1=1 --\u0000" }],
  ])('%s is rejected with its name', async (_, query, chainId) => {
    const { status, body } = await ask(query, chainId)
    const details = [{ field: 'pageToken', message: TOKEN_RULE }]
    expect([status, body.code, body.details]).toEqual([400, 'INVALID_ARGUMENT', details])
  })
})

it('a chain whose node does not answer has a list, because lists come from the database', async () => {
  const { status, body } = await ask({}, DEAD_CHAIN)
  expect([status, body]).toEqual([200, { orders: [], nextPageToken: '' }])
})

it('lists of orders share their limit with the path of one order', async () => {
  const tight = await startService(chain, { RATE_LIMIT_ORDER: '2' })
  const order = () => tight.get(`/v1/${chain.chainId}/order/${UNKNOWN_ORDER}`)
  const answers = [await ask({}, chain.chainId, tight), await order(), await ask({}, chain.chainId, tight)]
  expect(answers.map(({ status }) => status)).toEqual([200, 200, 429])
  expect(answers.map(({ headers }) => headers.get('ratelimit-remaining'))).toEqual(['1', '0', '0'])
  expect((await order()).status).toBe(429)
  expect(await tight.metric('aggregator_rate_limited_total', { limit: 'order' })).toBe(2)
  await tight.close()
})
