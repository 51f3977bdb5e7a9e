import { afterEach, describe, expect, it, vi } from 'vitest'
import { only } from '../../../test/support/only.js'
import { createAggregatorClient } from '../src/index.js'
import { PARAMS } from './samples.js'
import { NO_ORDER } from './server.js'

/** An answer as React Native has it: whole, and without a body that can be read in parts. */
function whole(body: unknown, status = 200, type = 'application/json') {
  const headers = new Headers({ 'content-type': type })
  return { ok: status < 400, status, headers, text: async () => JSON.stringify(body) } as Response
}

/** A client with this `fetch`, and how often it was called. */
function clientOf(fetch: (init: RequestInit) => Promise<Response>) {
  let calls = 0
  const client = createAggregatorClient({
    baseUrl: 'https://quotes.example',
    fetch: async (_url, init = {}) => {
      calls++
      return fetch(init)
    },
  })
  return { client, calls: () => calls }
}

const NO_STREAMS = {
  name: 'AggregatorError',
  reason: 'ANSWER_INVALID',
  message: expect.stringContaining('This fetch has no streams'),
}

afterEach(() => void vi.unstubAllGlobals())

describe('on React Native, which has no streams', () => {
  it('calls read whole answers, errors too', async () => {
    const { client } = clientOf(async () => whole([]))
    expect(await client.listSolvers(1)).toEqual([])
    const failure = { error: 'Too many.', code: 'RATE_LIMITED' }
    const failing = clientOf(async () => whole(failure, 429))
    await expect(failing.client.listSolvers(1)).rejects.toMatchObject({ reason: 'RATE_LIMITED' })
  })

  it('an answer above the limit is refused', async () => {
    const { client } = clientOf(async () => whole(['x'.repeat(4 * 1024 * 1024)]))
    await expect(client.listSolvers(1)).rejects.toMatchObject({ reason: 'ANSWER_INVALID' })
  })

  it.each(['streamEvents', 'streamQuotes'] as const)(
    '%s fails at once, and sends no request that would never be answered',
    async (method) => {
      vi.stubGlobal('ReadableStream', undefined)
      const { client, calls } = clientOf(() => new Promise(() => {}))
      const stream = method === 'streamEvents' ? client.streamEvents() : client.streamQuotes(PARAMS)
      await expect(stream[Symbol.asyncIterator]().next()).rejects.toMatchObject(NO_STREAMS)
      expect(calls()).toBe(0)
    },
  )

  it('a stream fails at once where only the fetch has no bodies', async () => {
    const { client, calls } = clientOf(async () => whole('', 200, 'text/event-stream'))
    await expect(client.streamEvents()[Symbol.asyncIterator]().next()).rejects.toMatchObject(NO_STREAMS)
    expect(calls()).toBe(1)
  })

  it('an order is waited for by polling', async () => {
    vi.stubGlobal('ReadableStream', undefined)
    const { client } = clientOf(async () => whole(NO_ORDER))
    const watch = client.watchOrder(1, NO_ORDER.orderId)[Symbol.asyncIterator]()
    expect((await watch.next()).value).toEqual(NO_ORDER)
    await watch.return?.()
  })
})

describe('on Workers', () => {
  it('calls do not ask for redirect: error, which Workers refuse', async () => {
    const { client } = clientOf(async ({ redirect }) => {
      if (redirect === 'error') throw new TypeError('Invalid redirect value')
      return whole([])
    })
    expect(await client.listSolvers(1)).toEqual([])
  })
})

it('a redirect that a browser hides is one', async () => {
  const hidden = { ok: false, status: 0, headers: new Headers(), body: null, type: 'opaqueredirect' }
  const { client } = clientOf(async () => only<Response>(hidden))
  await expect(client.listSolvers(1)).rejects.toMatchObject({
    reason: 'CONNECTION_FAILED',
    message: expect.stringContaining('unexpected redirect'),
  })
})
