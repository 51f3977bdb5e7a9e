import { expect, it, onTestFinished } from 'vitest'
import { eventually } from '../../../test/support/eventually.js'
import { createManualClock } from '../../../test/support/manual-clock.js'
import { createRpcEndpoint, type RpcEndpointOptions } from '../src/rpc-endpoint.js'
import { type Asked, echo, echoAll, type HttpAnswer, sendJson, startHttpNode } from './nodes.js'

const error = (code: number, message: string) => ({ code, message })
const refusal = { jsonrpc: '2.0', id: null, error: error(-32600, 'batches are not supported') }
const errorsFor = (asked: readonly Asked[], reason: object) =>
  asked.map(({ id }) => ({ jsonrpc: '2.0', id, error: reason }))

/** Calls in a batch that the node of these refusals takes. */
const LIMIT = 3

/** Ways to refuse a longer batch. */
const REFUSALS: readonly (readonly [string, HttpAnswer])[] = [
  ['status 500', (response) => response.writeHead(500).end()],
  ['status 429', (response) => response.writeHead(429).end('too many requests')],
  ['status 400 and an error object', (response) => sendJson(response, refusal, 400)],
  ['one error object', (response) => sendJson(response, refusal)],
  ['one result', (response) => sendJson(response, { jsonrpc: '2.0', id: null, result: [] })],
  ['an empty list', (response) => sendJson(response, [])],
  ['a list of null', (response) => sendJson(response, [null, null])],
  ['no JSON', (response) => response.end('[{')],
  ['a closed connection', (response) => response.destroy()],
  [
    'an error for each call',
    (response, asked) => sendJson(response, errorsFor(asked as Asked[], error(-32603, 'Internal error'))),
  ],
  [
    'an error of rates for each call',
    (response, asked) => sendJson(response, errorsFor(asked as Asked[], error(-32005, 'limit exceeded'))),
  ],
  [
    'answers to the first calls only',
    (response, asked) => sendJson(response, (asked as Asked[]).slice(0, LIMIT).map(echo)),
  ],
  [
    'errors for the calls beyond its limit',
    (response, asked) => {
      const [taken, left] = [(asked as Asked[]).slice(0, LIMIT), (asked as Asked[]).slice(LIMIT)]
      sendJson(response, [...taken.map(echo), ...errorsFor(left, error(-32000, 'batch limit exceeded'))])
    },
  ],
]
/** Calls of a round. */
const CALLS = 12

async function start(options: RpcEndpointOptions = {}, answer?: HttpAnswer) {
  const node = await startHttpNode(answer)
  const endpoint = createRpcEndpoint(node.url, options)
  onTestFinished(endpoint.close)
  const callMany = (count: number) =>
    Promise.all(Array.from({ length: count }, (_, index) => endpoint.request('eth_call', [index])))
  return { node, endpoint, callMany }
}

const echoes = (count: number) => Array.from({ length: count }, (_, index) => ['eth_call', index])

it('the calls of one turn of the event loop go in batches of fifty at most', async () => {
  const { node, endpoint, callMany } = await start()
  expect(await callMany(120)).toEqual(echoes(120))
  expect(node.takeSizes().toSorted((a, b) => b - a)).toEqual([50, 50, 20])
  await endpoint.request('eth_call', [0])
  expect([node.takeSizes(), endpoint.takesBatches()]).toEqual([[1], true])
})

it.each<[string, HttpAnswer]>([
  ['in another order', (response, asked) => sendJson(response, [echoAll(asked)].flat().reverse())],
  [
    'with ids as texts',
    (response, asked) =>
      sendJson(
        response,
        Array.isArray(asked) ? asked.map((one) => ({ ...echo(one), id: String(one.id) })) : echoAll(asked),
      ),
  ],
])('answers %s are those of their ids', async (_how, answer) => {
  const { node, callMany } = await start({}, answer)
  expect(await callMany(20)).toEqual(echoes(20))
  expect(node.takeSizes()).toEqual([20])
})

it.each(REFUSALS)(
  'a node that refuses more than three calls by %s gets no more of them, and no call fails',
  async (_how, refuse) => {
    const { node, endpoint, callMany } = await start({}, (response, asked, request) => {
      if (!Array.isArray(asked) || asked.length <= LIMIT) sendJson(response, echoAll(asked))
      else refuse(response, asked, request)
    })
    for (let round = 0; round < 8; round++) expect(await callMany(CALLS)).toEqual(echoes(CALLS))
    node.takeSizes()
    expect(await callMany(CALLS)).toEqual(echoes(CALLS))
    const sizes = node.takeSizes()
    expect(Math.max(...sizes)).toBeLessThanOrEqual(LIMIT)
    expect(sizes.reduce((sum, size) => sum + size)).toBe(CALLS)
    expect(endpoint.takesBatches()).toBe(true)
  },
)

it('errors that a call has alone as well are those of the call, and batches stay as they are', async () => {
  const missing = error(-32601, 'no such method')
  const { node, endpoint } = await start({}, (response, asked) => {
    const answers = [asked]
      .flat()
      .map((one) => (one.method === 'eth_missing' ? { id: one.id, error: missing } : echo(one as Asked)))
    sendJson(response, Array.isArray(asked) ? answers : answers[0])
  })
  for (let round = 0; round < 4; round++) {
    const ends = await Promise.allSettled(
      ['eth_missing', 'eth_call', 'eth_missing'].map((method) => endpoint.request(method)),
    )
    expect(ends).toMatchObject([
      { reason: { kind: 'answered', code: -32601 } },
      { value: ['eth_call'] },
      { reason: { kind: 'answered', code: -32601 } },
    ])
  }
  expect(endpoint.takesBatches()).toBe(true)
  expect(node.takeSizes()).toEqual([3, 1, 1, 3, 1, 1, 3, 1, 1, 3, 1, 1])
})

const tooWide = error(-32005, 'query returned more than 10000 results')
it.each<[string, HttpAnswer, object]>([
  [
    'an error for each',
    (response, asked) => {
      const answers = errorsFor([asked].flat() as Asked[], tooWide)
      sendJson(response, Array.isArray(asked) ? answers : answers[0])
    },
    { kind: 'answered', code: -32005 },
  ],
  ['status 500', (response) => response.writeHead(500).end(), { kind: 'refused', status: 500 }],
])(
  'calls that a node refuses by %s for the sake of another one in their batch are answered',
  async (_how, refuse, reason) => {
    const { endpoint } = await start({}, (response, asked, request) => {
      const isWide = [asked].flat().some(({ method }) => method === 'eth_getLogs')
      if (isWide) refuse(response, asked, request)
      else sendJson(response, echoAll(asked))
    })
    const methods = ['eth_getLogs', 'eth_a', 'eth_b', 'eth_getLogs']
    for (let round = 0; round < 3; round++)
      expect(await Promise.allSettled(methods.map((method) => endpoint.request(method)))).toMatchObject([
        { reason },
        { value: ['eth_a'] },
        { value: ['eth_b'] },
        { reason },
      ])
  },
)

it('a rate that is reached within a batch ends its other calls, and makes no more', async () => {
  const { node, endpoint } = await start({}, (response, asked) => {
    const [first, ...others] = asked as Asked[]
    if (first === undefined) throw new Error('no calls')
    sendJson(response, [echo(first), ...errorsFor(others, error(-32005, 'request rate exceeded'))])
  })
  const ends = await Promise.allSettled([1, 2, 3].map((one) => endpoint.request('eth_call', [one])))
  expect(ends).toMatchObject([
    { value: ['eth_call', 1] },
    { reason: { kind: 'refused', isRateLimit: true } },
    { reason: { kind: 'refused', isRateLimit: true } },
  ])
  expect([node.sizes(), endpoint.takesBatches()]).toEqual([[3], true])
})

it('a revert in a batch is an answer, and is not asked for again', async () => {
  const { node, callMany } = await start({}, (response, asked) =>
    sendJson(
      response,
      errorsFor(asked as Asked[], { ...error(3, 'execution reverted: rate limit'), data: '0x01' }),
    ),
  )
  const ends = await Promise.allSettled([callMany(1), callMany(1)])
  expect(ends).toMatchObject([{ reason: { code: 3, data: '0x01' } }, { reason: { code: 3, data: '0x01' } }])
  expect(node.takeSizes()).toEqual([2])
})

it('all calls of a batch fail with the reason of the node when a single one fails too', async () => {
  const { node, callMany } = await start({}, (response) => response.writeHead(502).end('bad gateway'))
  const calls = Array.from({ length: 10 }, () => callMany(1))
  for (const end of await Promise.allSettled(calls))
    expect(end).toMatchObject({ reason: { kind: 'refused', status: 502 } })
  expect(node.takeSizes()).toEqual([10, 1, 1])
})

it('twice as many calls are tried after each minute without a refusal', async () => {
  const clock = createManualClock()
  let limit = 1
  const { node, endpoint, callMany } = await start({ clock }, (response, asked) =>
    Array.isArray(asked) && asked.length > limit
      ? response.writeHead(500).end()
      : sendJson(response, echoAll(asked)),
  )
  const sizesNow = async () => {
    node.takeSizes()
    await callMany(8)
    return Math.max(...node.takeSizes())
  }
  for (let round = 0; round < 6; round++) await sizesNow()
  expect(endpoint.takesBatches()).toBe(false)
  limit = 50
  expect(await sizesNow()).toBe(1)
  const sizes: number[] = []
  for (let time = 0; time < 3; time++) {
    await clock.advance(60_000)
    sizes.push(await sizesNow())
  }
  expect(sizes).toEqual([2, 4, 8])
})

it('batches that get no answer in time say nothing of their size while no call alone is answered', async () => {
  const clock = createManualClock()
  const { node, endpoint, callMany } = await start({ clock }, () => {})
  for (let round = 1; round <= 4; round++) {
    const calls = callMany(3)
    await eventually(
      async () => node.sizes(),
      ({ length }) => length === round,
    )
    await Promise.all([expect(calls).rejects.toMatchObject({ isTimeout: true }), clock.advance(5000)])
  }
  node.answerWith(undefined)
  expect(await callMany(1)).toEqual(echoes(1))
  expect(await callMany(3)).toEqual(echoes(3))
  expect([node.takeSizes(), endpoint.takesBatches()]).toEqual([[3, 3, 3, 3, 1, 3], true])
})

it.each<[string, HttpAnswer]>([
  ['a time to wait', (response) => response.writeHead(429, { 'retry-after': '1' }).end()],
  ['no answer in time', () => {}],
])(
  'batches of more than thirty that get %s become smaller when smaller ones are answered',
  async (_how, refuse) => {
    const clock = createManualClock()
    const { node, endpoint, callMany } = await start({ clock }, (response, asked, request) =>
      Array.isArray(asked) && asked.length > 30
        ? refuse(response, asked, request)
        : sendJson(response, echoAll(asked)),
    )
    async function failOnce(): Promise<void> {
      node.takeSizes()
      const failed = expect(callMany(50)).rejects.toThrow('the node')
      await eventually(
        async () => node.takeSizes(),
        ({ length }) => length > 0,
      )
      await Promise.all([failed, clock.advance(10_000)])
      for (const count of [1, 3]) expect(await callMany(count)).toEqual(echoes(count))
      node.takeSizes()
    }
    await failOnce()
    await failOnce()
    expect(await callMany(50)).toEqual(echoes(50))
    expect([node.takeSizes(), endpoint.takesBatches()]).toEqual([[25, 25], true])
    await clock.advance(60_000)
    // A size that has grown again has failed before.
    await failOnce()
    expect(await callMany(50)).toEqual(echoes(50))
    expect([node.takeSizes(), endpoint.takesBatches()]).toEqual([[25, 25], true])
  },
)

it('a node gets sixteen requests at a time, and the others in their order', async () => {
  const open: (() => void)[] = []
  let most = 0
  let underWay = 0
  const { node, callMany } = await start({}, (response, asked) => {
    if (Array.isArray(asked)) return response.writeHead(500).end()
    most = Math.max(most, ++underWay)
    open.push(() => {
      underWay--
      sendJson(response, echoAll(asked))
    })
  })
  const answerAll = setInterval(() => open.splice(0).forEach((answer) => void answer()), 5)
  onTestFinished(() => clearInterval(answerAll))
  for (let round = 0; round < 7; round++) await callMany(2)
  expect(await callMany(100)).toEqual(echoes(100))
  expect(most).toBe(16)
  expect(node.connections()).toBe(16)
})
