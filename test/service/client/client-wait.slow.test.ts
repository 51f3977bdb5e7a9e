import { createAggregatorClient, type WaitForOrderOptions } from '@quote-aggregator/client'
import type { Hex } from 'viem'
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from 'vitest'
import { solverAccounts, startChain, type TestChain, user } from '../../support/chain/chain.js'
import { createTraffic, type Traffic } from '../../support/chain/event-traffic.js'
import type { Order } from '../../support/chain/order-actions.js'
import { startCable } from '../../support/faults/cable.js'
import { startEventService } from '../../support/service/event-service.js'
import type { TestService } from '../../support/service/service.js'

const FAR = 4_100_000_000

let chain: TestChain
let traffic: Traffic
let service: TestService

beforeAll(async () => {
  chain = await startChain({ bonded: 0 })
  traffic = await createTraffic(chain, { seed: 34 })
  service = await startEventService([chain])
})
afterAll(async () => {
  await service?.close()
  await chain?.stop()
})

interface WaitOptions extends WaitForOrderOptions {
  readonly baseUrl?: string
  /** What a gateway answers in place of the stream. */
  readonly gateway?: () => Promise<Response>
}

/** Waits for an order, and notes each state that it reads and the status of each attempt to open a stream. */
function wait(orderId: Hex, { baseUrl = service.url, gateway, ...options }: WaitOptions = {}) {
  const states: string[] = []
  const streams: number[] = []
  const client = createAggregatorClient({
    baseUrl,
    async fetch(input, init) {
      const isStream = String(input).includes('/v1/events')
      const response = await (isStream && gateway ? gateway() : fetch(input, init))
      if (isStream) streams.push(response.status)
      else if (response.ok) {
        const { state } = (await response.clone().json()) as { state: string }
        states.push(state)
      }
      return response
    },
  })
  const end = client.waitForOrder(chain.chainId, orderId, options)
  // A test that fails before its end must not make an unhandled rejection of it.
  end.catch(() => {})
  return { end, states, streams }
}

const order = (fillDeadline = FAR): Order =>
  traffic.actions.order({
    ...{ user: user.address, solver: solverAccounts[0] },
    ...{ inputAmount: 5n, outputAmount: 70n, fillDeadline },
  })

/** A deposited order, and a wait for it whose stream is open. */
async function waitForDeposited(options: WaitOptions = {}, fillDeadline?: number) {
  const deposited = order(fillDeadline)
  await traffic.mine([traffic.actions.deposit(deposited)])
  const waiting = wait(deposited.orderId, options)
  await expect.poll(() => waiting.streams).toContain(200)
  return { order: deposited, ...waiting }
}

const openStreams = () => service.metric('aggregator_stream_clients', {})

describe('the wait for an order', () => {
  it('ends when it is settled, with the transaction', async () => {
    const { actions, mine } = traffic
    const { order, end } = await waitForDeposited()
    const { number, timestamp } = await mine([actions.fill(order)])
    expect(await end).toMatchObject({
      ...{ state: 'SETTLED', orderId: order.orderId, user: order.user, inputAmount: 5n },
      settled: {
        ...{ blockNumber: number, blockTime: timestamp },
        transactionHash: expect.stringMatching(/^0x[0-9a-f]{64}$/),
      },
    })
    await expect.poll(openStreams).toBe(0)
  })

  it('ends when it is refunded', async () => {
    const { actions, mine, head } = traffic
    const { order, end } = await waitForDeposited({}, (await head()).timestamp)
    const { number } = await mine([actions.refund(order)])
    expect(await end).toMatchObject({ state: 'REFUNDED', refunded: { blockNumber: number } })
  })

  it('ends with the deposit when it is until DEPOSITED, also for an order that is settled already', async () => {
    const { actions, mine } = traffic
    const next = order()
    const { end, states } = wait(next.orderId, { until: 'DEPOSITED' })
    await expect.poll(() => states).toContain('NONE')
    await mine([actions.deposit(next)])
    expect(await end).toMatchObject({ state: 'DEPOSITED', deposited: {}, settled: undefined })
    await mine([actions.fill(next)])
    await wait(next.orderId).end
    expect(await wait(next.orderId, { until: 'DEPOSITED' }).end).toMatchObject({ state: 'SETTLED' })
  })

  it('goes on over a connection that breaks', async () => {
    const cable = await startCable(service.url)
    onTestFinished(() => cable.close())
    const { order, end, streams } = await waitForDeposited({ baseUrl: cable.url })
    cable.cut()
    await expect.poll(() => streams.length).toBeGreaterThan(1)
    cable.cut()
    await traffic.mine([traffic.actions.fill(order)])
    expect(await end).toMatchObject({ state: 'SETTLED' })
  })

  it('goes on when a reorganisation removes the other final state', async () => {
    const { actions, mine, reorganise, head } = traffic
    const deadline = (await head()).timestamp + 60
    const { order, end, states } = await waitForDeposited({ until: 'REFUNDED' }, deadline)
    await mine([actions.fill(order)])
    await expect.poll(() => states).toContain('SETTLED')
    await reorganise(1, [[], []])
    await expect.poll(() => states.at(-1)).toBe('DEPOSITED')
    await mine([actions.refund(order)])
    expect(await end).toMatchObject({ state: 'REFUNDED', settled: undefined, deposited: {}, refunded: {} })
  })
})

describe('without a stream, the wait for an order', () => {
  it('reads the order when the instance has no place for another stream', async () => {
    const full = await startEventService([chain], { MAX_STREAM_CLIENTS_PER_IP: '1' })
    onTestFinished(() => full.close())
    const holding = new AbortController()
    onTestFinished(() => holding.abort())
    const held = createAggregatorClient({ baseUrl: full.url }).streamEvents({}, { signal: holding.signal })
    const next = order()
    const holder = held[Symbol.asyncIterator]().next()
    await expect.poll(() => full.metric('aggregator_stream_clients', {})).toBe(1)
    await traffic.mine([traffic.actions.deposit(next)])
    await holder

    const { end, states, streams } = wait(next.orderId, { baseUrl: full.url })
    await expect.poll(() => streams.length).toBeGreaterThan(1)
    expect(states).toContain('DEPOSITED')
    await traffic.mine([traffic.actions.fill(next)])
    expect(await end).toMatchObject({ state: 'SETTLED' })
    expect(new Set(streams)).toEqual(new Set([503]))
  })

  it('reads the order when a gateway forbids or limits it, does not know it, or answers with a page', async () => {
    const answers = [
      { status: 403, type: 'text/html' },
      { status: 429, type: 'text/plain' },
      { status: 404, type: 'application/json' },
      { status: 200, type: 'text/html' },
    ]
    const orders = answers.map(() => order())
    await traffic.mine(orders.map((each) => traffic.actions.deposit(each)))
    const waits = answers.map(({ status, type }, index) => {
      const gateway = async () => new Response('{}', { status, headers: { 'content-type': type } })
      return { status, ...wait((orders[index] as Order).orderId, { gateway }) }
    })
    for (const { streams } of waits) await expect.poll(() => streams.length).toBeGreaterThan(1)
    await traffic.mine(orders.map((each) => traffic.actions.fill(each)))
    for (const { status, end, streams } of waits) {
      expect(await end).toMatchObject({ state: 'SETTLED' })
      expect(new Set(streams)).toEqual(new Set([status]))
    }
  })
})

describe('the end of a wait without a result', () => {
  it('is TIMED_OUT after the time, and closes the stream', async () => {
    const { end } = await waitForDeposited({ timeoutMs: 2000 })
    await expect(end).rejects.toMatchObject({
      name: 'AggregatorError',
      reason: 'TIMED_OUT',
      message: 'The time is over, and the order is still DEPOSITED.',
    })
    await expect.poll(openStreams).toBe(0)
  })

  it('is CANCELLED when the signal aborts, and closes the stream', async () => {
    const leaving = new AbortController()
    const { end } = await waitForDeposited({ signal: leaving.signal })
    leaving.abort()
    await expect(end).rejects.toMatchObject({ name: 'AggregatorError', reason: 'CANCELLED' })
    await expect.poll(openStreams).toBe(0)
  })

  it('is the error of the instance for a chain that it does not serve', async () => {
    const waiting = createAggregatorClient({ baseUrl: service.url }).waitForOrder(1, order().orderId)
    await expect(waiting).rejects.toMatchObject({ reason: 'CHAIN_NOT_SUPPORTED' })
  })
})
