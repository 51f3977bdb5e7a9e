import { gzipSync } from 'node:zlib'
import { describe, expect, it, onTestFinished } from 'vitest'
import { deferred } from '../../../test/support/deferred.js'
import { createManualClock } from '../../../test/support/manual-clock.js'
import type { RpcError } from '../src/json-rpc.js'
import { createRpcEndpoint, type OnCall } from '../src/rpc-endpoint.js'
import {
  type Asked,
  answered,
  echo,
  type HttpAnswer,
  JSON_TYPE,
  KEY,
  raw,
  sendJson,
  startEndpoint,
  startHttpNode,
  withError,
} from './nodes.js'

describe('the result of a call is', () => {
  it.each([
    ['a text', '0x1'],
    ['null', null],
    ['false', false],
  ])('%s', async (_what, result) => {
    const { endpoint } = await startEndpoint(answered({ result, error: null }))
    expect(await endpoint.request('eth_call')).toEqual(result)
  })

  it.each([
    ['after a byte order mark', '\uFEFF{"jsonrpc":"2.0","id":1,"result":"0x1"}'],
    ['in a list of one', '[{"jsonrpc":"2.0","id":1,"result":"0x1"}]'],
  ])('found %s', async (_what, text) => {
    const { endpoint } = await startEndpoint(raw(text))
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
    ['no JSON', raw('{"result":"0x'), { kind: 'lost' }, /is not JSON/],
    ['a closed connection', (response) => response.destroy(), { kind: 'lost', isTimeout: false }, /./],
    [
      'half of an answer',
      (response) => response.writeHead(200, { 'content-length': 100 }).write('{}', () => response.destroy()),
      { kind: 'lost' },
      /./,
    ],
  ])('%s', async (_what, answer, expected, message) => {
    const { failure } = await startEndpoint(answer)
    const error = await failure()
    expect(error).toMatchObject({ name: 'RpcError', ...expected })
    expect(error.message).toMatch(message)
  })

  it('the address of a node that is away', async () => {
    const { node, failure } = await startEndpoint()
    node.close()
    expect(await failure()).toMatchObject({ kind: 'lost', message: expect.stringContaining('ECONNREFUSED') })
  })

  it('the text of a node in one short line, without the keys of its URL', async () => {
    const { node, failure } = await startEndpoint((response, _asked, { url, headers }) =>
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
  const { failure } = await startEndpoint((response) =>
    response.writeHead(308, { location: other.url }).end('moved'),
  )
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
    const { node, endpoint, failure } = await startEndpoint(answered({ result: 'x'.repeat(1000) }))
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
  ])('of %s is not parsed when it is long', async (_what, text) => {
    const { failure } = await startEndpoint(raw(text))
    expect(await failure()).toMatchObject({
      kind: 'lost',
      message: expect.stringContaining('far more values'),
    })
  })

  it('is not asked for compressed, and is no JSON then', async () => {
    let wanted: unknown = 'nothing'
    const { failure } = await startEndpoint((response, asked, { headers }) => {
      wanted = headers['accept-encoding']
      response
        .writeHead(200, { ...JSON_TYPE, 'content-encoding': 'gzip' })
        .end(gzipSync(JSON.stringify(echo(asked as Asked))))
    })
    expect(await failure()).toMatchObject({ kind: 'lost' })
    expect(wanted).toBe('identity')
  })
})

it('each call is reported once with its outcome', async () => {
  const calls: Parameters<OnCall>[] = []
  const clock = createManualClock()
  const { node, endpoint, failure } = await startEndpoint(undefined, {
    clock,
    onCall: (...call) => calls.push(call),
  })
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
