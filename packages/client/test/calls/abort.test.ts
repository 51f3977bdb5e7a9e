import { getEventListeners } from 'node:events'
import { describe, expect, it } from 'vitest'
import { type AggregatorClient, createAggregatorClient, type StreamOptions } from '../../src/index.js'
import { PARAMS } from '../samples.js'
import { NO_ORDER, sendJson, serve } from '../server.js'

const ORDER_ID = NO_ORDER.orderId
const connected = 'id: a.1\ndata: {"type":"connected","supportedChains":[1],"cursor":"a.1"}\n\n'
const listeners = (signal: AbortSignal) => getEventListeners(signal, 'abort').length

/** The methods that stream, with options. */
const STREAMS = {
  streamEvents: (client: AggregatorClient, options?: StreamOptions) => client.streamEvents({}, options),
  watchOrder: (client: AggregatorClient, options?: StreamOptions) => client.watchOrder(1, ORDER_ID, options),
  streamQuotes: (client: AggregatorClient, options?: StreamOptions) => client.streamQuotes(PARAMS, options),
}

/** An instance with an order, whose streams stay open without an event. */
const instance = () =>
  serve(({ url = '' }, response) => {
    if (!/events|stream/.test(url)) return sendJson(response, 200, NO_ORDER)
    response.writeHead(200, { 'content-type': 'text/event-stream' }).write(connected)
  })

describe('a long-lived signal', () => {
  it('has no listener left after calls that succeed and calls that fail', async () => {
    const { url } = await instance()
    const { signal } = new AbortController()
    const client = createAggregatorClient({ baseUrl: url })
    await client.getOrder(1, ORDER_ID, { signal })
    await client.listSolvers(1, { signal }).catch(() => {})
    expect(listeners(signal)).toBe(0)
  })

  it('has one listener during a wait for an order, and none after it', async () => {
    const { url } = await instance()
    const leaving = new AbortController()
    const client = createAggregatorClient({ baseUrl: url })
    const waiting = client.waitForOrder(1, ORDER_ID, { signal: leaving.signal })
    expect(listeners(leaving.signal)).toBe(1)
    leaving.abort()
    await expect(waiting).rejects.toMatchObject({ reason: 'CANCELLED' })
    expect(listeners(leaving.signal)).toBe(0)
  })

  it('has one listener during a stream or a watch, and none after it', async () => {
    const { url } = await instance()
    const { signal } = new AbortController()
    const client = createAggregatorClient({ baseUrl: url })
    const watch = client.watchOrder(1, ORDER_ID, { signal })[Symbol.asyncIterator]()
    await watch.next()
    expect(listeners(signal)).toBe(1)
    await watch.return?.()
    expect(listeners(signal)).toBe(0)
    for (const open of [STREAMS.streamEvents, STREAMS.streamQuotes]) {
      const messages = open(client, { signal })[Symbol.asyncIterator]()
      const pending = messages.next()
      await expect.poll(() => listeners(signal)).toBe(1)
      await messages.return?.()
      await pending
      expect(listeners(signal)).toBe(0)
    }
  })
})

describe.each(Object.entries(STREAMS))('the iterator of %s', (method, open) => {
  it('ends at once when its return comes while a next is pending', async () => {
    const { url } = await instance()
    const client = createAggregatorClient({ baseUrl: url })
    const iterator = open(client)[Symbol.asyncIterator]()
    if (method === 'watchOrder') await iterator.next()
    const pending = iterator.next()
    expect(await iterator.return?.()).toEqual({ done: true, value: undefined })
    expect(await pending).toEqual({ done: true, value: undefined })
  })

  it('throws an AggregatorError for options that are not an object, and for a signal that is not an AbortSignal', async () => {
    const client = createAggregatorClient({ baseUrl: 'http://127.0.0.1:9' })
    const start = (options: unknown) =>
      open(client, options as StreamOptions)
        [Symbol.asyncIterator]()
        .next()
    const error = { name: 'AggregatorError', reason: 'INVALID_ARGUMENT' }
    await expect(start(null)).rejects.toMatchObject({ ...error, violations: [{ field: 'options' }] })
    await expect(start({ signal: null })).rejects.toMatchObject({
      ...error,
      violations: [{ field: 'signal' }],
    })
    await expect(start({ signal: {} })).rejects.toMatchObject({ ...error, violations: [{ field: 'signal' }] })
  })
})

describe('the signal of a call', () => {
  it.each([null, {}, 'now'])('is refused when it is %j', async (signal) => {
    const client = createAggregatorClient({ baseUrl: 'http://127.0.0.1:9' })
    await expect(client.listSolvers(1, { signal: signal as never })).rejects.toMatchObject({
      reason: 'INVALID_ARGUMENT',
      violations: [{ field: 'signal', message: 'must be an AbortSignal, or be left out' }],
    })
  })

  it('ends the call with TIMED_OUT when it is of AbortSignal.timeout, and otherwise with CANCELLED', async () => {
    const { url } = await serve(() => {})
    const client = createAggregatorClient({ baseUrl: url })
    const late = client.listSolvers(1, { signal: AbortSignal.timeout(1) })
    await expect(late).rejects.toMatchObject({ reason: 'TIMED_OUT' })
    const leaving = new AbortController()
    const cancelled = client.listSolvers(1, { signal: leaving.signal })
    leaving.abort()
    await expect(cancelled).rejects.toMatchObject({ reason: 'CANCELLED' })
  })
})
