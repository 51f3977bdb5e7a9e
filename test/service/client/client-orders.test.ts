import { createAggregatorClient, type ListedOrder, type ListOrdersParams } from '@quote-aggregator/client'
import { createPublicClient, type Hex, http } from 'viem'
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from 'vitest'
import { devAccounts } from '../../../packages/cli/src/devnet/deploy.js'
import { solverAccounts, startChain, type TestChain } from '../../support/chain/chain.js'
import { createTraffic, type Traffic } from '../../support/chain/event-traffic.js'
import type { Order } from '../../support/chain/order-actions.js'
import { eventually } from '../../support/eventually.js'
import { startEventService } from '../../support/service/event-service.js'
import type { TestService } from '../../support/service/service.js'

const [alice, bob] = [devAccounts[8].address, devAccounts[9].address]
const [ada, aldous] = solverAccounts
const FAR = 4_100_000_000

let chain: TestChain
let traffic: Traffic
let service: TestService
/** Orders of alice, the oldest first: deposited, filled, refunded, settled and refunded at their deposit addresses. */
let orders: Order[]

beforeAll(async () => {
  chain = await startChain({ bonded: 0 })
  traffic = await createTraffic(chain, { seed: 33 })
  service = await startEventService([chain])
  orders = await playOrders()
})
afterAll(async () => {
  await service?.close()
  await chain?.stop()
})

const client = () => createAggregatorClient({ baseUrl: service.url })

function order(user: Hex, solver: typeof ada, fillDeadline = FAR): Order {
  return traffic.actions.order({ user, solver, inputAmount: 5n, outputAmount: 70n, fillDeadline })
}

async function playOrders(): Promise<Order[]> {
  const { actions, mine, head } = traffic
  const { timestamp } = await head()
  const [open, filled, refunded] = [order(alice, ada), order(alice, ada), order(alice, aldous, timestamp)]
  const [settled, returned] = [order(alice, aldous), order(alice, ada, timestamp)]
  await mine([actions.deposit(open), actions.deposit(filled), actions.deposit(refunded)])
  await mine([actions.fill(filled)])
  await mine([actions.deposit(order(bob, ada)), actions.refund(refunded)])
  await mine([actions.settle(settled)])
  await mine([actions.refundAddressDeposit(returned)])
  await eventually(
    async () => idsOf((await client().listOrders(chain.chainId)).orders),
    (ids) => ids.includes(returned.orderId),
  )
  return [open, filled, refunded, settled, returned]
}

async function allOf(params: ListOrdersParams): Promise<ListedOrder[]> {
  const all: ListedOrder[] = []
  for await (const listed of client().listAllOrders(chain.chainId, params)) all.push(listed)
  return all
}

const idsOf = (listed: readonly { orderId: Hex }[]) => listed.map(({ orderId }) => orderId)

/** The block of an event, as the node has it. */
async function blockOf(transactionHash: Hex | undefined) {
  const node = createPublicClient({ transport: http(chain.devnet.rpcUrl) })
  const { blockNumber } = await node.getTransactionReceipt({ hash: transactionHash ?? '0x' })
  const { timestamp } = await node.getBlock({ blockNumber })
  return { blockNumber: Number(blockNumber), blockTime: Number(timestamp), transactionHash }
}

describe('a list of orders', () => {
  it('comes in pages, the newest first, each order once', async () => {
    const newestFirst = idsOf(orders).reverse()
    const pages = []
    let pageToken: string | undefined
    do {
      const page = await client().listOrders(chain.chainId, { user: alice, pageSize: 2, pageToken })
      pages.push(idsOf(page.orders))
      pageToken = page.nextPageToken
    } while (pageToken !== undefined)
    expect(pages).toEqual([newestFirst.slice(0, 2), newestFirst.slice(2, 4), newestFirst.slice(4)])
    expect(idsOf(await allOf({ user: alice, pageSize: 2 }))).toEqual(newestFirst)
    expect(idsOf(await allOf({ user: alice }))).toEqual(newestFirst)
  })

  it('has only orders that match each filter', async () => {
    const [open, filled, refunded, settled, returned] = orders
    const listed = async (params: ListOrdersParams) => idsOf(await allOf(params))
    expect(await listed({ user: alice, solver: ada.address })).toEqual(
      [returned, filled, open].map((one) => one?.orderId),
    )
    expect(await listed({ solver: aldous.address })).toEqual([settled, refunded].map((one) => one?.orderId))
    expect(await listed({ user: alice, state: 'SETTLED' })).toEqual(
      [settled, filled].map((one) => one?.orderId),
    )
    expect(await listed({ state: 'REFUNDED', solver: aldous.address })).toEqual([refunded?.orderId])
    expect(await listed({ user: ada.address })).toEqual([])
    expect(await allOf({})).toHaveLength(orders.length + 1)
  })

  it('has the terms of each order, and the steps that it took, in both final states', async () => {
    const [returned, settled, refunded, filled, open] = await allOf({ user: alice })
    for (const listed of [returned, settled, refunded, filled, open])
      expect(listed).toMatchObject({ user: alice, inputAmount: 5n, outputAmount: 70n, outputChainId: 31337 })
    expect([returned, settled, refunded, filled, open].map((one) => one?.state)).toEqual([
      ...['REFUNDED', 'SETTLED', 'REFUNDED', 'SETTLED', 'DEPOSITED'],
    ])
    expect(open).toMatchObject({ settled: undefined, refunded: undefined })
    for (const step of [open?.deposited, filled?.deposited, filled?.settled, refunded?.refunded])
      expect(step).toEqual(await blockOf(step?.transactionHash))
    expect([settled?.deposited, returned?.deposited]).toEqual([undefined, undefined])
    expect(returned?.refunded).toEqual(await blockOf(returned?.refunded?.transactionHash))
  })

  it('has the same steps as the order itself', async () => {
    for (const listed of await allOf({ user: alice }))
      expect(await client().getOrder(chain.chainId, listed.orderId)).toEqual(listed)
  })

  it('refuses the token of other filters, and a chain that is not served', async () => {
    const { nextPageToken } = await client().listOrders(chain.chainId, { user: alice, pageSize: 1 })
    const other = client().listOrders(chain.chainId, { user: bob, pageToken: nextPageToken })
    await expect(other).rejects.toMatchObject({
      reason: 'INVALID_ARGUMENT',
      violations: [{ field: 'pageToken' }],
    })
    await expect(client().listOrders(1)).rejects.toMatchObject({ reason: 'CHAIN_NOT_SUPPORTED' })
  })
})

/** A stream of events whose connection breaks after so many blocks. */
function brokenAfter(blocks: number, response: Response): Response {
  let text = ''
  let isBroken = false
  const decoder = new TextDecoder()
  const cut = new TransformStream<Uint8Array, Uint8Array>({
    transform(chunk, controller) {
      text += decoder.decode(chunk, { stream: true })
      const parts = text.split('\n\n')
      if (isBroken || parts.length <= blocks) return
      isBroken = true
      controller.enqueue(new TextEncoder().encode(`${parts.slice(0, blocks).join('\n\n')}\n\n`))
      // The error would discard what is not read yet.
      setImmediate(() => controller.error(new Error('broken')))
    },
  })
  return new Response(response.body?.pipeThrough(cut) ?? null, response)
}

describe('the stream of events', () => {
  it('begins with the oldest event after `earliest`, each with its transaction', async () => {
    const ending = new AbortController()
    onTestFinished(() => ending.abort())
    const events = client().streamEvents({ after: 'earliest', users: [alice] }, { signal: ending.signal })
    const seen = []
    for await (const event of events) {
      const { type, orderId, blockNumber, blockTime, transactionHash } = event
      expect({ blockNumber, blockTime, transactionHash }).toEqual(await blockOf(transactionHash))
      if (event.type === 'Settled') expect(event.user).toBe(alice)
      seen.push({ type, orderId, logIndex: event.logIndex })
      if (orderId === orders.at(-1)?.orderId) break
    }
    const [open, filled, refunded, settled, returned] = idsOf(orders)
    expect(seen).toMatchObject([
      { type: 'Deposited', orderId: open },
      { type: 'Deposited', orderId: filled },
      { type: 'Deposited', orderId: refunded },
      { type: 'Settled', orderId: filled },
      { type: 'Refunded', orderId: refunded },
      { type: 'Settled', orderId: settled },
      { type: 'Refunded', orderId: returned },
    ])
    const [first = 0, second = 0, third = 0] = seen.map(({ logIndex }) => logIndex)
    expect(first < second && second < third).toBe(true)
  })

  it('has each event once when its connection breaks after `earliest`', async () => {
    // The first stream breaks after `connected`, the second one after two events.
    const breaks = [1, 3]
    const aggregator = createAggregatorClient({
      baseUrl: service.url,
      async fetch(input, init) {
        const response = await fetch(input, init)
        const blocks = breaks.shift()
        return blocks === undefined ? response : brokenAfter(blocks, response)
      },
    })
    const seen: string[] = []
    for await (const { type, orderId } of aggregator.streamEvents({ after: 'earliest', users: [alice] })) {
      seen.push(`${type} ${orderId}`)
      if (orderId === orders.at(-1)?.orderId) break
    }
    expect([breaks, seen.length, new Set(seen).size]).toEqual([[], 7, 7])
  })

  it('names the solver of a settlement', async () => {
    const [settled] = (await client().listOrders(chain.chainId, { user: alice, state: 'SETTLED' })).orders
    const filter = { after: 'earliest', orderIds: idsOf(settled ? [settled] : []) }
    for await (const event of client().streamEvents(filter)) {
      expect(event).toMatchObject({ type: 'Settled', solver: aldous.address })
      break
    }
  })
})
