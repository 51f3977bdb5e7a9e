import { describe, expect, it } from 'vitest'
import { createTraffic } from '../../support/chain/event-traffic.js'
import { eventually } from '../../support/eventually.js'
import { startModelChain } from '../../support/model-chain/start-model-chain.js'
import { startService } from '../../support/service/service.js'
import { shared } from '../../support/shared.js'
import { expectedOrders, type OrderMessage } from './chain-orders.js'

const STATES = ['DEPOSITED', 'SETTLED', 'REFUNDED'] as const
const MAX_PAGE = 200

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
const service = await shared(
  startService(chain, {
    [`START_BLOCK_${chain.chainId}`]: '0',
    MAX_REORG_DEPTH: '2',
    [`POLL_INTERVAL_MS_${chain.chainId}`]: '50',
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

async function list(query: Record<string, string | number> = {}): Promise<Page> {
  const text = new URLSearchParams()
  for (const [name, value] of Object.entries(query)) text.append(name, String(value))
  const { status, body } = await service.get(`/v1/${chain.chainId}/orders?${text}`)
  expect([status, body.code]).toEqual([200, undefined])
  return body
}

/** All pages of a list. */
async function listAll(query: Record<string, string>, pageSize: number): Promise<OrderMessage[][]> {
  const pages: OrderMessage[][] = []
  let pageToken = ''
  do {
    const page = await list({ ...query, pageSize, ...(pageToken && { pageToken }) })
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
    const page = await list({ state: 'REFUNDED', pageSize: refunded })
    expect([page.orders.length, page.nextPageToken]).toEqual([refunded, ''])
    expect((await list({ pageToken: '', pageSize: 1 })).orders).toEqual(orders.slice(0, 1))
  })
})
