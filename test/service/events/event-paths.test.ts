import { once } from 'node:events'
import { connect } from 'node:http2'
import { expect, it } from 'vitest'
import { eventually } from '../../support/eventually.js'
import { startScene } from '../../support/service/scene.js'
import { startService } from '../../support/service/service.js'
import { endOn, eventSource, webSocket } from '../../support/streams/transports.js'

const INVALID_CHAIN_ID = {
  webSocket: 1008,
  http: 400,
  rpc: '',
  reason: 'INVALID_ARGUMENT',
  fields: ['chainId'],
}

const { chain, service } = await startScene()

it.each([webSocket, eventSource])(
  '$name rejects mistakes that only a query can contain',
  async (transport) => {
    for (const chainId of ['x', '-1', '1e2', '99999999999999999999']) {
      const end = await transport.open(service.url, { chainId: [chainId] }).ended()
      expect(end).toMatchObject(endOn(transport, INVALID_CHAIN_ID))
      expect(end.text).toContain('chainId')
    }
  },
)

it.each(['/v1/ws', '/v1/events'])('%s accepts only GET', async (path) => {
  for (const verb of ['POST', 'PUT', 'PATCH', 'DELETE']) {
    const { status, headers, body } = await service.send(verb, path)
    expect([status, headers.get('allow')]).toEqual([405, 'GET'])
    expect(body).toEqual({ error: expect.any(String), code: 'METHOD_NOT_ALLOWED' })
  }
  const head = await fetch(`${service.url}${path}`, { method: 'HEAD' })
  expect([head.status, head.headers.get('allow')]).toEqual([405, 'GET'])
})

it('pages of other origins may read /v1/events', async () => {
  const open = async (url: string, origin: string) => {
    const response = await fetch(`${url}/v1/events`, { headers: { origin } })
    await response.body?.cancel()
    return response.headers.get('access-control-allow-origin')
  }
  expect(await open(service.url, 'https://a.example')).toBe('*')
  const strict = await startService(chain, { CORS_ORIGINS: 'https://a.example' })
  expect(await open(strict.url, 'https://a.example')).toBe('https://a.example')
  expect(await open(strict.url, 'https://b.example')).toBeNull()
  await strict.close()
})

it('pages of other origins may reconnect with Last-Event-ID, also by fetch', async () => {
  const { status, headers } = await fetch(`${service.url}/v1/events`, {
    method: 'OPTIONS',
    headers: {
      origin: 'https://a.example',
      'access-control-request-method': 'GET',
      'access-control-request-headers': 'last-event-id',
    },
  })
  expect(status).toBe(204)
  expect(headers.get('access-control-allow-headers')?.toLowerCase()).toContain('last-event-id')
})

it('the filters of a stream may have 256 values together, and no more', async () => {
  const filtered = (users: number) => {
    const query = new URLSearchParams({ type: 'Settled' })
    for (let user = 0; user < users; user++) query.append('user', `0x${String(user).padStart(40, '0')}`)
    return fetch(`${service.url}/v1/events?${query}`)
  }
  const open = await filtered(255)
  await open.body?.cancel()
  const refused = await filtered(256)
  expect([open.status, refused.status, await refused.json()]).toMatchObject([
    200,
    400,
    {
      code: 'INVALID_ARGUMENT',
      details: [
        {
          field: 'user',
          message: 'is one of too many: all filters of a stream may have at most 256 values',
        },
      ],
    },
  ])
})

it('server-sent events are not cached on the way', async () => {
  const response = await fetch(`${service.url}/v1/events`)
  await response.body?.cancel()
  expect(response.headers.get('content-type')).toBe('text/event-stream')
  expect(response.headers.get('cache-control')).toBe('no-store, no-transform')
  expect(response.headers.get('x-accel-buffering')).toBe('no')
})

it('server-sent events also come over HTTP/2, and hold their place until the client resets them', async () => {
  const session = connect(service.url)
  const call = session.request({ ':path': '/v1/events?type=Deposited' })
  const [headers] = await once(call, 'response')
  expect([headers[':status'], headers['content-type']]).toEqual([200, 'text/event-stream'])
  const [first] = await once(call.setEncoding('utf8'), 'data')
  expect(first).toMatch(
    /^id: (\S+)\ndata: \{"type":"connected","supportedChains":\[31337\],"cursor":"\1"\}\n\n$/,
  )
  const clients = () => service.metric('aggregator_stream_clients', { protocol: 'sse' })
  expect(await clients()).toBe(1)
  call.close(8)
  await eventually(clients, (count) => count === 0)
  session.close()
})

it('Last-Event-ID, which browsers send when they reconnect, takes precedence over `after`', async () => {
  const first = eventSource.open(service.url)
  const cursor = await first.connected()
  first.leave()
  for (const request of [{}, { after: 'no cursor' }]) {
    const client = eventSource.open(service.url, request, { headers: { 'last-event-id': cursor } })
    expect(await client.connected()).toBe(cursor)
    client.leave()
  }
})
