import { once } from 'node:events'
import { connect as connectHttp2 } from 'node:http2'
import { connect } from 'node:net'
import { brotliCompressSync } from 'node:zlib'
import { describe, expect, it, onTestFinished, vi } from 'vitest'
import { startScene } from '../../support/service/scene.js'
import { startService } from '../../support/service/service.js'

const { chain, service, ask } = await startScene()

describe('a faulty request', () => {
  const json = { 'content-type': 'application/json' }
  const bodies: [string, RequestInit, number][] = [
    ['no JSON', { body: '{"amount":', headers: json }, 400],
    ['more than 64 KiB', { body: JSON.stringify({ amount: '1'.repeat(66_000) }), headers: json }, 413],
  ]
  it.each(bodies)('is rejected for %s', async (_, init, expected) => {
    const { status, body } = await service.send('POST', `/v1/${chain.chainId}/quote`, undefined, init)
    expect(status).toBe(expected)
    expect(body).toMatchObject({ code: 'INVALID_ARGUMENT', details: [{ field: 'body' }] })
    const elsewhere = await service.send('POST', '/v1/2/quote', undefined, init)
    expect([elsewhere.status, elsewhere.body.code]).toEqual([404, 'CHAIN_NOT_SUPPORTED'])
  })

  it.each(['0100', '1e2', '100x', '-1', '31337.0', '0x7a69', '99999999999999999999'])(
    'is rejected with CHAIN_NOT_SUPPORTED for the chain id %s',
    async (text) => {
      const { status, body } = await service.get(`/v1/${text}/solvers`)
      expect([status, body.code]).toEqual([404, 'CHAIN_NOT_SUPPORTED'])
    },
  )

  it('is rejected for an invalid deadline, with the name of its header', async () => {
    const headers = { 'connect-timeout-ms': 'soon' }
    const { status, body } = await ask({}, { headers })
    expect([status, body.details[0].field]).toEqual([400, 'Connect-Timeout-Ms'])
  })

  it('gets ROUTE_NOT_FOUND for an unknown path', async () => {
    for (const path of [
      '/v2',
      '/v2/1/solvers',
      `/v1/${chain.chainId}/solver`,
      '/aggregator.v1.QuoteService/Nothing',
    ]) {
      const { status, body } = await service.get(path)
      expect([status, body.code]).toEqual([404, 'ROUTE_NOT_FOUND'])
    }
  })

  it('gets METHOD_NOT_ALLOWED with the allowed verbs for another verb', async () => {
    const { status, body, headers } = await service.send('PUT', `/v1/${chain.chainId}/quote`, {})
    expect([status, body.code, headers.get('allow')]).toEqual([405, 'METHOD_NOT_ALLOWED', 'POST'])
    const elsewhere = await service.send('PUT', '/v1/2/quote', {})
    expect([elsewhere.status, elsewhere.body.code]).toEqual([404, 'CHAIN_NOT_SUPPORTED'])
  })
})

it("a long message of one of gRPC's own services is refused", async () => {
  const headers = { 'content-type': 'application/proto' }
  const body = Buffer.alloc(1025, '\x78\x01')
  const answer = await fetch(`${service.url}/grpc.health.v1.Health/Check`, { method: 'POST', headers, body })
  expect(await answer.json()).toMatchObject({ code: 'resource_exhausted' })
})

it('a compressed message is refused', async () => {
  const headers = { 'content-type': 'application/proto', 'content-encoding': 'br' }
  const body = brotliCompressSync(Buffer.alloc(60_000))
  const answer = await fetch(`${service.url}/aggregator.v1.SolverService/ListSolvers`, {
    method: 'POST',
    headers,
    body,
  })
  expect(await answer.json()).toMatchObject({ code: 'unimplemented' })
})

it('an unusable host is refused without a word on the console, and counts against the limit of all requests', async () => {
  const complaints = vi.spyOn(console, 'error')
  onTestFinished(() => complaints.mockRestore())
  const limited = await startService(chain, { RATE_LIMIT_MAX: '4' })
  onTestFinished(() => limited.close())
  const path = '/aggregator.v1.SolverService/ListSolvers'
  const { hostname, port } = new URL(limited.url)

  async function post(host: string): Promise<string> {
    const socket = connect(Number(port), hostname)
    onTestFinished(() => void socket.destroy())
    const headers = `${host}content-type: application/json\r\ncontent-length: 2\r\nconnection: close`
    socket.write(`POST ${path} HTTP/1.1\r\n${headers}\r\n\r\n{}`)
    return (await socket.setEncoding('utf8').toArray()).join('')
  }
  async function postHttp2() {
    const session = connectHttp2(limited.url)
    onTestFinished(() => session.destroy())
    const headers = { ':authority': '[', ':path': path, 'content-type': 'application/grpc' }
    const stream = session.request({ ...headers, ':method': 'POST' }).end('{}')
    const [{ ':status': status }] = await once(stream, 'response')
    return [status, (await stream.setEncoding('utf8').toArray()).join('')]
  }

  for (const host of ['Host: [\r\n', 'Host: \r\n', 'Host: a\r\nHost: b\r\n']) {
    const answer = await post(host)
    expect(answer).toMatch(/^HTTP\/1.1 400 /)
    expect(answer).toContain('"field":"Host"')
  }
  expect(await postHttp2()).toEqual([400, expect.stringContaining('"field":":authority"')])
  expect((await post('Host: [\r\n')).split(' ')[1]).toBe('429')
  expect((await postHttp2())[0]).toBe(429)
  expect(complaints.mock.calls).toEqual([])
})
