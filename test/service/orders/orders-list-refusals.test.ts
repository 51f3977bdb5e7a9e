import { describe, expect, it } from 'vitest'
import { user } from '../../support/chain/chain.js'
import { createTraffic } from '../../support/chain/event-traffic.js'
import { startModelChain } from '../../support/model-chain/start-model-chain.js'
import { startService } from '../../support/service/service.js'
import { shared } from '../../support/shared.js'
import { webSocket } from '../../support/streams/transports.js'

/** A second chain, whose node never answers. */
const DEAD_CHAIN = 4242
const UNKNOWN_ORDER = `0x${'ab'.repeat(32)}`
const TOKEN_RULE = 'must be the nextPageToken of a page with the same filters'

const list = (query: string, chainId: number | string = chain.chainId, open = service) =>
  open.get(`/v1/${chainId}/orders${query}`)

const chain = await shared(startModelChain({ bonded: 0 }))
const traffic = await createTraffic(chain, { seed: 22, users: [user] })
const dead = { ...chain, chainId: DEAD_CHAIN, devnet: { ...chain.devnet, rpcUrl: 'http://127.0.0.1:9' } }
const service = await shared(startService([chain, dead]))
const watch = webSocket.open(service.url)
await watch.connected()
for (let block = 0; block < 3; block++) await traffic.mine([traffic.actions.deposit(traffic.order())])
await watch.take(3)
const [all, own] = [await list('?pageSize=1'), await list(`?pageSize=1&user=${user.address}`)]
/** Tokens of the second page of all orders, and of those of one user. */
const tokens = { all: all.body.nextPageToken, own: own.body.nextPageToken, event: watch.cursor() }
watch.leave()

describe('a list of orders with a bad field is rejected with its name:', () => {
  it.each([
    ['a user that is no address', '?user=nobody', 'user'],
    ['the state NONE', '?state=NONE', 'state'],
    ['an unknown state', '?state=FILLED', 'state'],
    ['a negative page size', '?pageSize=-1', 'pageSize'],
  ])('%s', async (_, query, field) => {
    const { status, body } = await list(query)
    expect([status, body.code, body.details]).toEqual([
      400,
      'INVALID_ARGUMENT',
      [{ field, message: expect.any(String) }],
    ])
  })
})

describe('a page token', () => {
  it('continues with the filters of its page, in any letter case and with another page size', async () => {
    const { status, body } = await list(
      `?pageSize=2&user=${user.address.toLowerCase()}&pageToken=${tokens.own}`,
    )
    expect([status, body.orders.length, body.nextPageToken]).toEqual([200, 2, ''])
  })

  const bad: [string, () => string, number?][] = [
    ['of a list with a filter', () => `?pageToken=${tokens.own}`],
    ['of a list without a filter', () => `?state=DEPOSITED&pageToken=${tokens.all}`],
    ['of another user', () => `?user=0x${'ab'.repeat(20)}&pageToken=${tokens.own}`],
    ['of another chain', () => `?pageToken=${tokens.all}`, DEAD_CHAIN],
    ['that is the cursor of an event', () => `?pageToken=${tokens.event}`],
    ['that is cut off', () => `?pageToken=${tokens.all.slice(0, -1)}`],
    ['with a position that is too large', () => `?pageToken=${tokens.all.replace(/^\w+/, 'zzzzzzzzzzz')}`],
    ['without a position', () => `?pageToken=${tokens.all.replace(/^\w+-\w+/, '-')}`],
    ['of other characters', () => `?pageToken=${encodeURIComponent("' or 1=1 --\u0000")}`],
  ]
  it.each(bad)('%s is rejected with its name', async (_, query, chainId = chain.chainId) => {
    const { status, body } = await list(query(), chainId)
    expect([status, body.code, body.details]).toEqual([
      400,
      'INVALID_ARGUMENT',
      [{ field: 'pageToken', message: TOKEN_RULE }],
    ])
  })
})

describe('the path of orders', () => {
  it('of a chain whose node does not answer has a list, because lists come from the database', async () => {
    const { status, body } = await list('', DEAD_CHAIN)
    expect([status, body]).toEqual([200, { orders: [], nextPageToken: '' }])
  })

  it('shares its limit with the path of one order', async () => {
    const tight = await startService(chain, { RATE_LIMIT_ORDER: '2' })
    const order = () => tight.get(`/v1/${chain.chainId}/order/${UNKNOWN_ORDER}`)
    const answers = [
      await list('', chain.chainId, tight),
      await order(),
      await list('', chain.chainId, tight),
    ]
    expect(answers.map(({ status }) => status)).toEqual([200, 200, 429])
    expect(answers.map(({ headers }) => headers.get('ratelimit-remaining'))).toEqual(['1', '0', '0'])
    expect((await order()).status).toBe(429)
    expect(await tight.metric('aggregator_rate_limited_total', { limit: 'order' })).toBe(2)
    await tight.close()
  })
})
