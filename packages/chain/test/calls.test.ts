import { gzipSync } from 'node:zlib'
import { describe, expect, it, onTestFinished } from 'vitest'
import { deferred } from '../../../test/support/deferred.js'
import { eventually } from '../../../test/support/eventually.js'
import { createManualClock } from '../../../test/support/manual-clock.js'
import type { RpcError } from '../src/json-rpc.js'
import { createRpcEndpoint, type OnCall, type RpcEndpointOptions } from '../src/rpc-endpoint.js'
import { type Asked, echo, type HttpAnswer, sendJson, startHttpNode } from './nodes.js'

const KEY = 'secret-key'
const JSON_TYPE = { 'content-type': 'application/json' }

/** An endpoint whose URL has a key in each of its parts. */
async function start(answer?: HttpAnswer, options: RpcEndpointOptions = {}) {
  const node = await startHttpNode(answer)
  const url = `http://user-name:${KEY}@${node.host}/v2/${KEY}?key=${KEY}`
  const endpoint = createRpcEndpoint(url, options)
  onTestFinished(endpoint.close)
  const failure = (limits = {}): Promise<RpcError> =>
    endpoint.request('eth_call', [], limits).then(
      (result) => expect.fail(`a result: ${JSON.stringify(result)}`),
      (error) => error,
    )
  return { node, endpoint, failure }
}

const answered =
  (body: object): HttpAnswer =>
  (response, asked) =>
    sendJson(response, { jsonrpc: '2.0', id: (asked as Asked).id, ...body })
const withError = (error: unknown) => answered({ error })
const raw =
  (text: string, status = 200): HttpAnswer =>
  (response) =>
    response.writeHead(status, JSON_TYPE).end(text)

describe('the result of a call is', () => {
  it.each([
    ['a text', '0x1'],
    ['null', null],
    ['an object', { number: '0x1' }],
    ['a list', []],
    ['false', false],
  ])('%s', async (_what, result) => {
    const { endpoint } = await start(answered({ result, error: null }))
    expect(await endpoint.request('eth_call')).toEqual(result)
  })

  it.each([
    ['after a byte order mark', '\uFEFF{"jsonrpc":"2.0","id":1,"result":"0x1"}'],
    ['in a list of one', '[{"jsonrpc":"2.0","id":1,"result":"0x1"}]'],
  ])('found %s', async (_what, text) => {
    const { endpoint } = await start(raw(text))
    expect(await endpoint.request('eth_call')).toBe('0x1')
  })
})

describe('a call fails with', () => {
  it.each<[string, HttpAnswer, Partial<RpcError>, RegExp]>([
    [
      'the error of a node',
      withError({ code: -32000, message: 'header not found', data: { a: 1 } }),
      {
        kind: 'answered',
        code: -32000,
        data: { a: 1 },
        answer: { code: -32000, message: 'header not found', data: { a: 1 } },
      },
      /^header not found$/,
    ],
    [
      'a code as a text',
      withError({ code: '3', message: 'reverted' }),
      { kind: 'answered', code: 3 },
      /^reverted$/,
    ],
    ['an error without a text', withError({ code: 7 }), { kind: 'answered', code: 7 }, /^\{"code":7\}$/],
    [
      'an empty text',
      withError({ code: 3, message: '' }),
      { kind: 'answered', code: 3 },
      /^an error with code 3$/,
    ],
    [
      'an error that is a text',
      withError('execution reverted'),
      { kind: 'answered', answer: 'execution reverted' },
      /^execution reverted$/,
    ],
    [
      'an error and the status of one',
      (response) => sendJson(response, { error: { code: 3, message: 'reverted', data: '0x01' } }, 500),
      { kind: 'answered', code: 3, data: '0x01' },
      /^reverted$/,
    ],
    [
      'a status',
      raw('', 500),
      { kind: 'refused', status: 500, isRateLimit: false },
      /^the node answers with status 500$/,
    ],
    [
      'a status and a text',
      raw('no such\nplan', 403),
      { kind: 'refused', status: 403 },
      /^the node answers with status 403: no such plan$/,
    ],
    [
      'a status and a page',
      raw('<html>Bad Gateway</html>', 502),
      { kind: 'refused', status: 502 },
      /^the node answers with status 502$/,
    ],
    [
      'a limit by status',
      (response) => sendJson(response, { error: { code: 1, message: 'slow down' } }, 429),
      { kind: 'refused', status: 429, isRateLimit: true },
      /^the node answers with status 429: slow down$/,
    ],
    ['no answer', raw('null'), { kind: 'lost' }, /neither a result nor an error/],
    ['no result', answered({}), { kind: 'lost' }, /neither a result nor an error/],
    ['no JSON', raw('{"result":"0x'), { kind: 'lost' }, /is not JSON/],
    ['nothing', raw(''), { kind: 'lost' }, /is not JSON/],
    ['a closed connection', (response) => response.destroy(), { kind: 'lost', isTimeout: false }, /./],
    [
      'half of an answer',
      (response) => response.writeHead(200, { 'content-length': 100 }).write('{}', () => response.destroy()),
      { kind: 'lost' },
      /./,
    ],
  ])('%s', async (_what, answer, expected, message) => {
    const { failure } = await start(answer)
    const error = await failure()
    expect(error).toMatchObject({ name: 'RpcError', ...expected })
    expect(error.message).toMatch(message)
  })

  it('the address of a node that is away', async () => {
    const { node, failure } = await start()
    node.close()
    expect(await failure()).toMatchObject({ kind: 'lost', message: expect.stringContaining('ECONNREFUSED') })
  })

  it('the text of a node in one short line, without the keys of its URL', async () => {
    const { node, failure } = await start((response, _asked, { url, headers }) =>
      sendJson(response, {
        error: {
          code: 1,
          message: `no\n ${url} at https://a:${KEY}@${node.host}/${KEY} x ${headers.authorization} ${'x'.repeat(50_000)}`,
        },
      }),
    )
    const { message } = await failure()
    expect(message).toContain(`no /v2/…?key=… at https://${node.host} x`)
    expect(message).not.toContain(KEY)
    expect(message).toContain(' x Basic … x')
    expect(message.length).toBeLessThan(400)
  })
})

it('a redirect is an error, and nobody else gets the call', async () => {
  const other = await startHttpNode()
  const { failure } = await start((response) => response.writeHead(308, { location: other.url }).end('moved'))
  expect(await failure()).toMatchObject({
    kind: 'refused',
    status: 308,
    message: 'the node answers with status 308: redirects are not followed',
  })
  expect(other.sizes()).toEqual([])
})

it('user name and password of a URL are sent as Basic authentication, whatever characters they have', async () => {
  const node = await startHttpNode((response, asked, { headers }) =>
    sendJson(response, { ...echo(asked as Asked), result: headers.authorization }),
  )
  const endpoint = createRpcEndpoint(`http://me:a%2Fb%zz@${node.host}`)
  onTestFinished(endpoint.close)
  // What is no escape stays as it is, for the whole part.
  expect(await endpoint.request('eth_call')).toBe(`Basic ${Buffer.from('me:a%2Fb%zz').toString('base64')}`)
  const escaped = createRpcEndpoint(`http://me:a%2Fb@${node.host}`)
  onTestFinished(escaped.close)
  expect(await escaped.request('eth_call')).toBe(`Basic ${Buffer.from('me:a/b').toString('base64')}`)
})

describe('the body of an answer', () => {
  it('may have as many bytes as the call takes, and is not read beyond', async () => {
    const closed = deferred()
    const { node, endpoint, failure } = await start(answered({ result: 'x'.repeat(1000) }))
    await expect(endpoint.request('eth_call', [], { maxBytes: 2000 })).resolves.toHaveLength(1000)
    expect(await failure({ maxBytes: 999 })).toMatchObject({ kind: 'too_long' })
    node.answerWith((response) => {
      response.writeHead(200, JSON_TYPE).once('close', closed.open)
      // Where the connection has ended, a write fails at once.
      const write = (error?: Error | null) => void (error || response.write('0'.repeat(2 ** 16), write))
      write()
    })
    expect(await failure({ maxBytes: 2 ** 20 })).toMatchObject({ kind: 'too_long' })
    await closed.opened
  })

  it.each([
    ['empty objects', `{"result":[${'{},'.repeat(1_000_000)}{}]}`],
    ['lists in lists', '['.repeat(1_000_000) + ']'.repeat(1_000_000)],
    ['zeros', `{"result":[${'0,'.repeat(1_000_000)}0]}`],
  ])('of %s is not parsed when it is long', async (_what, text) => {
    const { failure } = await start(raw(text))
    expect(await failure()).toMatchObject({
      kind: 'lost',
      message: expect.stringContaining('far more values'),
    })
  })

  it('is not asked for compressed, and is no JSON then', async () => {
    let wanted: unknown = 'nothing'
    const { failure } = await start((response, asked, { headers }) => {
      wanted = headers['accept-encoding']
      response
        .writeHead(200, { ...JSON_TYPE, 'content-encoding': 'gzip' })
        .end(gzipSync(JSON.stringify(echo(asked as Asked))))
    })
    expect(await failure()).toMatchObject({ kind: 'lost' })
    expect(wanted).toBe('identity')
  })
})

describe('a call ends', () => {
  it.each<[string, HttpAnswer]>([
    ['does not answer', () => {}],
    ['does not end its answer', (response) => response.writeHead(200, JSON_TYPE).write('[')],
  ])('after its time when the node %s', async (_how, answer) => {
    const clock = createManualClock()
    const { node, failure } = await start(answer, { clock })
    const failed = failure({ timeoutMs: 700 })
    await eventually(
      async () => node.sizes(),
      ({ length }) => length > 0,
    )
    await clock.advance(1000)
    expect(await failed).toMatchObject({ kind: 'lost', isTimeout: true })
    expect(clock.waiting).toBe(0)
  })

  it('with the reason of its signal, also before it is sent', async () => {
    const caller = new AbortController()
    const reason = new Error('the caller has left')
    const { node, endpoint } = await start(() => caller.abort(reason), { maxInFlight: 1 })
    await expect(endpoint.request('eth_call', [], { signal: caller.signal })).rejects.toBe(reason)
    await expect(endpoint.request('eth_call', [], { signal: caller.signal })).rejects.toBe(reason)
    expect(node.sizes()).toEqual([1])
  })

  it('when the client is closed, and none is sent afterwards', async () => {
    const { node, endpoint, failure } = await start(() => endpoint.close())
    expect(await failure()).toMatchObject({ kind: 'lost', message: 'the client is closed' })
    expect(await failure()).toMatchObject({ kind: 'lost', message: 'the client is closed' })
    expect(node.sizes()).toEqual([1])
  })
})

describe('a node that closes a kept connection', () => {
  it.each<[string, HttpAnswer]>([
    ['resets', (response) => response.socket?.resetAndDestroy()],
    ['ends', (response) => response.socket?.end()],
  ])('and %s it gets the call once more on a new one', async (_how, leave) => {
    const { node, endpoint } = await start()
    await endpoint.request('eth_call', [1])
    node.answerWith((...exchange) => {
      node.answerWith(undefined)
      leave(...exchange)
    })
    expect(await endpoint.request('eth_call', [2])).toEqual(['eth_call', 2])
    expect([node.sizes(), node.connections()]).toEqual([[1, 1, 1], 2])
  })

  it('is asked no third time', async () => {
    const { node, endpoint, failure } = await start()
    await endpoint.request('eth_call')
    node.answerWith((response) => response.destroy())
    expect(await failure()).toMatchObject({ kind: 'lost' })
    expect(node.sizes()).toEqual([1, 1, 1])
  })
})

describe('calls alone', () => {
  it('are in no batch, and wait for no other', async () => {
    const { node, endpoint } = await start(
      (response, asked) => {
        if ((asked as Asked).params[0] !== 0) sendJson(response, echo(asked as Asked))
      },
      { maxInFlight: 3 },
    )
    const held = endpoint.request('eth_call', [0])
    held.catch(() => {})
    expect(await Promise.all([1, 2].map((one) => endpoint.request('eth_call', [one])))).toEqual([
      ['eth_call', 1],
      ['eth_call', 2],
    ])
    expect([node.takeSizes(), node.connections()]).toEqual([[1, 1, 1], 3])
  })

  it('beyond their number are refused at once', async () => {
    const { endpoint, failure } = await start(() => {}, { maxInFlight: 1 })
    endpoint.request('eth_call').catch(() => {})
    expect(await failure()).toMatchObject({ kind: 'refused', isRateLimit: false })
  })
})

describe('after a refusal for its limits', () => {
  const RATES: [string, HttpAnswer][] = [
    ['status 429', raw('', 429)],
    ['status 503', raw('', 503)],
    ['the code of Infura', withError({ code: -32005, message: 'limit exceeded' })],
    ['the code of Alchemy', withError({ code: 429, message: 'Monthly capacity limit exceeded' })],
    [
      'the words of Alchemy',
      withError({ code: -32000, message: 'exceeded its compute units per second capacity' }),
    ],
    [
      'words of a rate',
      withError({ code: -32603, message: 'daily request count exceeded, request rate limited' }),
    ],
  ]

  it.each(RATES)(
    'by %s, a node gets no call for a second, then for two, until it answers',
    async (_how, answer) => {
      const clock = createManualClock()
      const { node, endpoint, failure } = await start(answer, { clock })
      for (const pauseMs of [1000, 2000, 4000]) {
        expect(await failure()).toMatchObject({ kind: 'refused', isRateLimit: true })
        await clock.advance(pauseMs - 1)
        node.takeSizes()
        expect(await failure()).toMatchObject({
          kind: 'refused',
          isRateLimit: true,
          message: expect.stringMatching(/refused calls \(.+\): none is sent for/),
        })
        expect(node.sizes()).toEqual([])
        await clock.advance(1)
      }
      node.answerWith(undefined)
      expect(await endpoint.request('eth_call')).toEqual(['eth_call'])
      node.answerWith(answer)
      expect(await failure()).toMatchObject({ kind: 'refused', isRateLimit: true })
      node.answerWith(undefined)
      await clock.advance(1000)
      expect(await endpoint.request('eth_call')).toEqual(['eth_call'])
    },
  )

  const NOW = Date.parse('Sun, 22 Nov 2026 08:00:00 GMT')
  it.each([
    ['seconds', 429, '7', 7000],
    ['seconds of a node that is busy', 503, '3', 3000],
    ['no time at all', 429, '0', 1000],
    ['a date', 503, 'Sun, 22 Nov 2026 08:00:09 GMT', 9000],
    ['a date that has passed', 503, 'Sun, 22 Nov 2026 07:00:00 GMT', 1000],
    ['many seconds, of which a minute counts', 429, '86400', 60_000],
    ['a distant date, of which a minute counts', 429, 'Mon, 22 Nov 2027 08:00:00 GMT', 60_000],
    ['what cannot be read', 429, 'soon', 1000],
    ['seconds with another status', 500, '7', 0],
  ])('Retry-After with %s is the pause', async (_what, status, retryAfter, pauseMs) => {
    const clock = createManualClock(NOW)
    const { node, failure } = await start(
      (response) => response.writeHead(status, { 'retry-after': retryAfter }).end(),
      { clock },
    )
    await failure()
    await clock.advance(Math.max(0, pauseMs - 1))
    node.takeSizes()
    await failure()
    expect(node.sizes()).toHaveLength(pauseMs === 0 ? 1 : 0)
    await clock.advance(1)
    node.takeSizes()
    await failure()
    expect(node.sizes()).toHaveLength(1)
  })

  it.each<[string, unknown]>([
    ['a revert whose words a caller has chosen', { code: 3, message: 'execution reverted: rate limit' }],
    ['a revert with data', { code: -32000, message: 'too many requests per second', data: '0x08c379a0' }],
    [
      'a revert of Nethermind',
      { code: -32015, message: 'VM execution error: capacity', data: 'Reverted 0x01' },
    ],
    ['too many logs', { code: -32005, message: 'query returned more than 10000 results' }],
    ['an unknown block', { code: -32000, message: 'header not found' }],
  ])('%s is none', async (_what, error) => {
    const { node, failure } = await start(withError(error))
    for (let call = 0; call < 3; call++) expect(await failure()).toMatchObject({ kind: 'answered' })
    expect(node.sizes()).toEqual([1, 1, 1])
  })
})

it('each call is reported once with its outcome', async () => {
  const calls: Parameters<OnCall>[] = []
  const clock = createManualClock()
  const { node, endpoint, failure } = await start(undefined, { clock, onCall: (...call) => calls.push(call) })
  await endpoint.request('eth_chainId')
  node.answerWith((response, asked) =>
    Array.isArray(asked) ? response.writeHead(500).end() : sendJson(response, echo(asked as Asked)),
  )
  await Promise.all([endpoint.request('eth_a'), endpoint.request('eth_b')])
  node.answerWith(withError({ code: 3, message: 'reverted' }))
  await failure()
  node.answerWith(raw('', 500))
  await failure()
  expect(calls).toEqual([
    ['eth_chainId', 'ok', 0],
    ['eth_a', 'ok', 0],
    ['eth_b', 'ok', 0],
    ['eth_call', 'refused', 0],
    ['eth_call', 'error', 0],
  ])
})
