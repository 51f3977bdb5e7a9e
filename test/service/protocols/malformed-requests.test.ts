import { brotliCompressSync } from 'node:zlib'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { startChain, type TestChain } from '../../support/chain/chain.js'
import { startService, type TestService } from '../../support/service/service.js'

let chain: TestChain
let service: TestService

beforeAll(async () => {
  chain = await startChain({ bonded: 0 })
  service = await startService(chain)
})

afterAll(async () => {
  await service?.close()
  await chain?.stop()
})

describe('a faulty request', () => {
  const json = { 'content-type': 'application/json' }
  const bodies: [string, RequestInit, number][] = [
    ['no JSON', { body: '{"amount":', headers: json }, 400],
    ['an empty body', { body: '', headers: json }, 400],
    ['a list', { body: '[]', headers: json }, 400],
    ['a string', { body: '"amount"', headers: json }, 400],
    [
      'another content type',
      { body: 'amount=1', headers: { 'content-type': 'application/x-www-form-urlencoded' } },
      400,
    ],
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
