import { createAggregatorClient, type OrderEvent, type QuoteParams } from '@quote-aggregator/client'
import type { Hex } from 'viem'
import { expect, it, onTestFinished } from 'vitest'
import { user } from '../../support/chain/chain.js'
import { createTraffic } from '../../support/chain/event-traffic.js'
import { startCable } from '../../support/faults/cable.js'
import { startScene } from '../../support/service/scene.js'
import { shared } from '../../support/shared.js'
import { honest } from '../../support/solvers/solver.js'

const { chain, service, solvers } = await startScene({ solvers: ['Ada'] })
const [solver] = solvers
const traffic = await createTraffic(chain, { seed: 21 })
const cable = await shared(startCable(service.url))

/** The signal of a test: streams that it leaves open end with it. */
function untilTheEnd(): AbortSignal {
  const ending = new AbortController()
  onTestFinished(() => ending.abort())
  return ending.signal
}

/** A stream, opened, of which one event after the other can be taken. */
async function openStream(baseUrl: string, filter = {}) {
  const reasons: string[] = []
  let onOpen = () => {}
  const opened = new Promise<void>((resolve) => {
    onOpen = resolve
  })
  const events = createAggregatorClient({ baseUrl })
    .streamEvents(filter, {
      signal: untilTheEnd(),
      onConnected: onOpen,
      onLost: ({ reason }) => void reasons.push(reason),
    })
    [Symbol.asyncIterator]()
  let next = events.next()
  await Promise.race([opened, next])
  const take = async (): Promise<OrderEvent> => {
    const { value } = await next
    next = events.next()
    return value
  }
  return { take, reasons }
}

const lineOf = ({ type, orderId }: OrderEvent) => `${type} ${orderId}`

it('a stream of events resumes where its connection broke, without a gap or a repeat', async () => {
  const { actions, mine } = traffic
  const { take, reasons } = await openStream(cable.url)
  const orders = [traffic.order(), traffic.order(), traffic.order()] as const
  for (const order of orders) {
    const { number } = await mine([actions.deposit(order)])
    const event = await take()
    expect(event).toMatchObject({ type: 'Deposited', orderId: order.orderId, user: order.user })
    expect(event).toMatchObject({ inputAmount: order.inputAmount, blockNumber: number })
    cable.cut()
  }
  await mine(orders.map(actions.fill))
  const fills = [await take(), await take(), await take()]
  expect(fills.map(lineOf)).toEqual(orders.map(({ orderId }) => `Settled ${orderId}`))
  expect(reasons).toEqual(['CONNECTION_FAILED', 'CONNECTION_FAILED', 'CONNECTION_FAILED'])
})

it('a stream takes a filter of 200 order ids, next to the headers of a browser', async () => {
  const order = traffic.order()
  const others = Array.from({ length: 199 }, (_, index) => `0x${index.toString(16).padStart(64, '0')}` as Hex)
  const events = createAggregatorClient({
    baseUrl: service.url,
    fetch: (input, init) => fetch(input, { ...init, headers: { 'x-browser': 'b'.repeat(1000) } }),
  }).streamEvents({ orderIds: [order.orderId, ...others] }, { signal: untilTheEnd() })
  const next = events[Symbol.asyncIterator]().next()
  await traffic.mine([traffic.actions.deposit(order)])
  expect((await next).value).toMatchObject({ type: 'Deposited', orderId: order.orderId })
})

it('the record of a quote has the parameters and the results, and for a solver no more than its own', async () => {
  const params: QuoteParams = {
    chainId: chain.chainId,
    inputToken: chain.contracts.weth,
    outputToken: chain.contracts.usdc,
    orderType: 'EXACT_INPUT',
    amount: 10n ** 18n,
    user: user.address,
    depositMode: 'CONTRACT',
  }
  const aggregator = createAggregatorClient({ baseUrl: service.url })
  let askedUnder = ''
  solver.behave((asked, own, exchange) => {
    askedUnder = String(exchange.request.headers['x-quote-id'])
    return honest({ output: '1000' })(asked, own, exchange)
  })
  const { quoteId = '', best } = await aggregator.getQuote(params)
  const { chainId, user: userAddress, ...request } = params
  const { depositDeadline } = best.quote
  const result = { solver: solver.account.address, outcome: 'QUOTED', rank: 1, outputAmount: '1000' }
  expect(await aggregator.getQuoteRecord(chainId, quoteId)).toMatchObject({
    ...{ quoteId, chainId, outcome: 'QUOTED', bestAmount: 1000n, durationMs: expect.any(Number) },
    request: { ...request, userAddress, depositDeadline },
    solvers: [result],
  })
  const own = await aggregator.getQuoteRecord(chainId, askedUnder)
  expect(own).toMatchObject({ quoteId: askedUnder, solvers: [{ rank: 1 }] })
  expect([own.outcome, own.durationMs, own.bestAmount]).toEqual([undefined, undefined, undefined])
})
