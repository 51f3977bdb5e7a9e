import { once } from 'node:events'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { createAggregatorClient, type OrderEvent, type QuoteParams } from '@quote-aggregator/client'
import type { Hex } from 'viem'
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from 'vitest'
import { solverAccounts, startChain, type TestChain, user } from '../../support/chain/chain.js'
import { createTraffic, type Traffic } from '../../support/chain/event-traffic.js'
import { startCable } from '../../support/faults/cable.js'
import { startEventService } from '../../support/service/event-service.js'
import type { TestService } from '../../support/service/service.js'
import { honest, startSolver, type TestSolver } from '../../support/solvers/solver.js'

let chain: TestChain
let traffic: Traffic
let service: TestService
let solver: TestSolver
let cable: Awaited<ReturnType<typeof startCable>>

beforeAll(async () => {
  chain = await startChain({ bonded: 3 })
  traffic = await createTraffic(chain, { seed: 21 })
  service = await startEventService([chain])
  solver = await startSolver(chain, solverAccounts[0], honest({ output: '1000' }))
  await solver.register(service)
  cable = await startCable(service.url)
})

afterAll(async () => {
  await cable?.close()
  await service?.close()
  await solver?.close()
  await chain?.stop()
})

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

describe('the stream of events', () => {
  it('resumes where its connection broke, without a gap or a repeat', async () => {
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

  it('begins after a cursor, and sends only events that pass its filter', async () => {
    const { actions, mine } = traffic
    const live = await openStream(service.url)
    const [first, second] = [traffic.order(), traffic.order()]
    await mine([actions.deposit(first)])
    const { cursor } = await live.take()
    await mine([actions.deposit(second), actions.fill(first), actions.fill(second)])
    const late = await openStream(service.url, {
      after: cursor,
      types: ['Settled'],
      orderIds: [second.orderId],
      chainIds: [chain.chainId],
    })
    expect(lineOf(await late.take())).toBe(`Settled ${second.orderId}`)
  })

  it('takes a filter of 200 order ids, next to the headers of a browser', async () => {
    const order = traffic.order()
    const others = Array.from(
      { length: 199 },
      (_, index) => `0x${index.toString(16).padStart(64, '0')}` as Hex,
    )
    const events = createAggregatorClient({
      baseUrl: service.url,
      fetch: (input, init) => fetch(input, { ...init, headers: { 'x-browser': 'b'.repeat(1000) } }),
    }).streamEvents({ orderIds: [order.orderId, ...others] }, { signal: untilTheEnd() })
    const iterator = events[Symbol.asyncIterator]()
    const next = iterator.next()
    await traffic.mine([traffic.actions.deposit(order)])
    expect((await next).value).toMatchObject({ type: 'Deposited', orderId: order.orderId })
  })

  it('gives up on a cursor of another instance, a bad filter and a chain that is not served', async () => {
    const aggregator = createAggregatorClient({ baseUrl: service.url })
    const reasonOf = (filter: object) =>
      aggregator
        .streamEvents(filter, { signal: untilTheEnd() })
        [Symbol.asyncIterator]()
        .next()
        .catch(({ reason }) => reason)
    expect(await reasonOf({ after: 'nobody.1' })).toBe('CURSOR_UNKNOWN')
    expect(await reasonOf({ orderIds: ['0x12'] })).toBe('INVALID_ARGUMENT')
    expect(await reasonOf({ chainIds: [1] })).toBe('CHAIN_NOT_SUPPORTED')
  })
})

describe('the watch of an order', () => {
  async function watch(baseUrl: string, orderId: Hex, finalAfterMs?: number) {
    const options = { signal: untilTheEnd(), finalAfterMs }
    const orders = createAggregatorClient({ baseUrl }).watchOrder(chain.chainId, orderId, options)
    const iterator = orders[Symbol.asyncIterator]()
    return async () => (await iterator.next()).value?.state
  }

  it('yields each state from NONE to its end, over lost connections', async () => {
    const { actions, mine } = traffic
    const order = traffic.order()
    const next = await watch(cable.url, order.orderId, 0)
    expect(await next()).toBe('NONE')
    cable.cut()
    await mine([actions.deposit(order)])
    expect(await next()).toBe('DEPOSITED')
    cable.cut()
    await mine([actions.fill(order)])
    expect(await next()).toBe('SETTLED')
    expect(await next()).toBeUndefined()
  })

  it('yields the earlier state when a reorganisation removes its end', async () => {
    const { actions, mine, reorganise } = traffic
    const order = traffic.order()
    await mine([actions.deposit(order)])
    const next = await watch(service.url, order.orderId)
    expect(await next()).toBe('DEPOSITED')
    await mine([actions.fill(order)])
    expect(await next()).toBe('SETTLED')
    await reorganise(1, [[], []])
    expect(await next()).toBe('DEPOSITED')
  })
})

describe('the record of a quote', () => {
  const params = (): QuoteParams => ({
    chainId: chain.chainId,
    inputToken: chain.contracts.weth,
    outputToken: chain.contracts.usdc,
    orderType: 'EXACT_INPUT',
    amount: 10n ** 18n,
    user: user.address,
    depositMode: 'CONTRACT',
    depositWindow: 60,
  })

  it('has the parameters and the results', async () => {
    const aggregator = createAggregatorClient({ baseUrl: service.url })
    const { quoteId, best, alternatives } = await aggregator.getQuote(params())
    expect([best.quote.outputAmount, alternatives]).toEqual([1000n, []])
    const record = await aggregator.getQuoteRecord(chain.chainId, quoteId ?? '')
    const { inputToken, outputToken, orderType, amount, user: asker, depositMode } = params()
    expect(record).toMatchObject({
      quoteId,
      chainId: chain.chainId,
      outcome: 'QUOTED',
      request: { inputToken, outputToken, orderType, amount, userAddress: asker, depositMode },
      solvers: [
        {
          solver: solver.account.address,
          outcome: 'QUOTED',
          rank: 1,
          outputAmount: '1000',
          reason: undefined,
        },
      ],
    })
    expect(record.request.depositDeadline).toBe(best.quote.depositDeadline)
    expect([record.bestAmount, typeof record.durationMs]).toEqual([1000n, 'number'])
  })

  it('has no more than its own result for a solver', async () => {
    const aggregator = createAggregatorClient({ baseUrl: service.url })
    let askedUnder = ''
    solver.behave((asked, own, exchange) => {
      askedUnder = String(exchange.request.headers['x-quote-id'])
      return honest()(asked, own, exchange)
    })
    await aggregator.getQuote(params())
    solver.behave(honest())
    const record = await aggregator.getQuoteRecord(chain.chainId, askedUnder)
    expect(record).toMatchObject({ quoteId: askedUnder, solvers: [{ rank: 1 }] })
    expect([record.outcome, record.durationMs, record.bestAmount]).toEqual([undefined, undefined, undefined])
  })

  it('is named by the error when there is no quote', async () => {
    const aggregator = createAggregatorClient({ baseUrl: service.url })
    solver.behave(async (_ask, _solver, { response }) => void response.writeHead(422).end())
    const error = await aggregator.getQuote(params()).catch((thrown) => thrown)
    expect(error).toMatchObject({ reason: 'NO_QUOTES', quoteId: expect.stringMatching(/^[0-9a-f-]{36}$/) })
    const { outcome, solvers } = await aggregator.getQuoteRecord(chain.chainId, error.quoteId)
    expect([outcome, solvers]).toMatchObject(['NO_QUOTES', [{ outcome: 'DECLINED', httpStatus: 422 }]])
    const unknown = aggregator.getQuoteRecord(chain.chainId, '00000000-0000-4000-8000-000000000000')
    await expect(unknown).rejects.toMatchObject({ reason: 'QUOTE_NOT_FOUND' })
  })
})

describe('a call that fails', () => {
  it('says why, and which field is wrong', async () => {
    const aggregator = createAggregatorClient({ baseUrl: service.url })
    await expect(aggregator.getOrder(chain.chainId, '0x12')).rejects.toMatchObject({
      name: 'AggregatorError',
      reason: 'INVALID_ARGUMENT',
      violations: [{ field: 'orderId', message: 'must be 32 bytes in hex with 0x' }],
    })
    await expect(aggregator.listSolvers(1)).rejects.toMatchObject({ reason: 'CHAIN_NOT_SUPPORTED' })
  })

  it('says whether nothing answers, or something else than an aggregator', async () => {
    const gone = await startCable(service.url)
    await gone.close()
    const nowhere = createAggregatorClient({ baseUrl: gone.url })
    await expect(nowhere.listSolvers(chain.chainId)).rejects.toMatchObject({ reason: 'CONNECTION_FAILED' })
    const elsewhere = createAggregatorClient({ baseUrl: `${service.url}/nothing/here` })
    await expect(elsewhere.listSolvers(chain.chainId)).rejects.toMatchObject({ reason: 'ROUTE_NOT_FOUND' })
    const node = createAggregatorClient({ baseUrl: chain.devnet.rpcUrl })
    await expect(node.listSolvers(chain.chainId)).rejects.toMatchObject({ reason: 'ANSWER_INVALID' })
    const watching = node.watchOrder(chain.chainId, `0x${'00'.repeat(32)}`)[Symbol.asyncIterator]()
    await expect(watching.next()).rejects.toMatchObject({ reason: 'ANSWER_INVALID' })
  })

  it('ends when its signal aborts and when its time is over', async () => {
    const aggregator = createAggregatorClient({ baseUrl: service.url })
    const signal = AbortSignal.abort()
    await expect(aggregator.listSolvers(chain.chainId, { signal })).rejects.toMatchObject({
      reason: 'CANCELLED',
    })
    const server = createServer(() => {}).listen(0, '127.0.0.1')
    onTestFinished(() => void server.close())
    await once(server, 'listening')
    const { port } = server.address() as AddressInfo
    const silent = createAggregatorClient({ baseUrl: `http://127.0.0.1:${port}` })
    const timedOut = silent.listSolvers(chain.chainId, { timeoutMs: 1 })
    await expect(timedOut).rejects.toMatchObject({ reason: 'TIMED_OUT' })
  })
})

it('a client sends its requests with the fetch of the integrator, which may add headers for a gateway', async () => {
  const seen: (string | null)[] = []
  const aggregator = createAggregatorClient({
    baseUrl: service.url,
    fetch: (input, init) => {
      const request = new Request(input, init)
      request.headers.set('x-gateway-key', 'a-key')
      seen.push(request.headers.get('x-gateway-key'))
      return fetch(request)
    },
  })
  const order = traffic.order()
  await traffic.mine([traffic.actions.deposit(order)])
  expect(await aggregator.getOrder(chain.chainId, order.orderId)).toMatchObject({
    state: 'DEPOSITED',
    user: order.user,
    solver: order.solver.address,
    inputAmount: order.inputAmount,
    fillDeadline: order.fillDeadline,
  })
  expect(seen).toEqual(['a-key'])
})
