import { describe, expect, it } from 'vitest'
import { createDevnetClient } from '../../../packages/cli/src/devnet/deploy.js'
import { systemClock } from '../../../packages/protocol/src/clock.js'
import { between } from '../../support/between.js'
import { solverAccounts, user } from '../../support/chain/chain.js'
import { startModelChain } from '../../support/model-chain/start-model-chain.js'
import { startService, type TestService } from '../../support/service/service.js'
import { shared } from '../../support/shared.js'
import { startSolver } from '../../support/solvers/solver.js'
import { METRICS_SPELLINGS, rawGet } from './metrics-spellings.js'

const chain = await shared(startModelChain({ bonded: 1 }))
const solver = await shared(startSolver(chain, solverAccounts[0]))

describe('/health', () => {
  it('has the version, the chains and the active solvers', async () => {
    const uptimeMs = 90_500
    let aheadMs = 0
    const service = await startService(
      chain,
      {},
      {
        clock: {
          ...systemClock,
          now: () => Date.now() + aheadMs,
          monotonic: () => performance.now() + aheadMs,
        },
      },
    )
    const startedAt = Date.now()
    await solver.register(service)
    const head = await createDevnetClient(chain.devnet, user).getBlock()
    const before = Date.now()
    aheadMs = uptimeMs
    const { status, body } = await service.get('/health')
    const after = Date.now()
    const lag = (at: number) => Math.max(0, at - Number(head.timestamp) * 1000)
    expect(status).toBe(200)
    expect(body).toEqual({
      status: 'ok',
      version: expect.stringMatching(/^\d+\.\d+\.\d+$/),
      uptime: between(90, Math.ceil((uptimeMs + after - startedAt) / 1000) + 3),
      timestamp: between(before + uptimeMs, after + uptimeMs),
      supportedChains: [chain.chainId],
      activeSolvers: { [chain.chainId]: 1 },
      database: 'ok',
      chains: [
        {
          chainId: chain.chainId,
          status: 'ok',
          headBlock: Number(head.number),
          lagMs: between(lag(before + uptimeMs), lag(after + uptimeMs)),
        },
      ],
    })
    await service.close()
  })
})

describe('/metrics', () => {
  it('counts requests by method, protocol and reason, and has metrics of the process', async () => {
    const service = await startService(chain)
    await service.get(`/v1/${chain.chainId}/solvers`)
    await service.get('/v1/1/solvers')
    await service.get(`/v1/${chain.chainId}/order/0x12`)
    const count = (method: string, reason: string) =>
      service.metric('aggregator_requests_total', {
        method: `aggregator.v1.${method}`,
        protocol: 'rest',
        reason,
      })
    expect(await count('SolverService/ListSolvers', 'OK')).toBe(1)
    expect(await count('SolverService/ListSolvers', 'CHAIN_NOT_SUPPORTED')).toBe(1)
    expect(await count('OrderService/GetOrder', 'INVALID_ARGUMENT')).toBe(1)
    expect((await service.get('/metrics')).body).toContain('process_resident_memory_bytes')
    await service.close()
  })

  it('requires the password of METRICS_AUTH', async () => {
    const service = await startService(chain, { METRICS_AUTH: 'prometheus:a:secret' })
    const withAuth = (text: string) =>
      service.send('GET', '/metrics?x', undefined, { headers: { authorization: `Basic ${btoa(text)}` } })
    expect((await service.get('/metrics')).status).toBe(401)
    expect((await service.get('/metrics?x')).headers.get('www-authenticate')).toMatch(/^Basic /)
    expect((await withAuth('prometheus:another')).status).toBe(401)
    expect((await withAuth('prometheus:a:secret')).status).toBe(200)
    await service.close()
  })

  it('is served at no other spelling, which a proxy may let through', async () => {
    const service = await startService(chain)
    for (const path of METRICS_SPELLINGS)
      expect([path, (await rawGet(service.url, path)).status]).toEqual([path, 404])
    for (const path of ['/metrics', '/metrics?', '/metrics?x'])
      expect([path, (await rawGet(service.url, path)).status]).toEqual([path, 200])
    await service.close()
  })
})

it('no cache stores an answer of the API, be it a result or an error', async () => {
  const service = await startService(chain)
  const list = '/aggregator.v1.SolverService/ListSolvers'
  const solvers = `/v1/${chain.chainId}/solvers`
  for (const [verb, path, body, status] of [
    ['GET', solvers, undefined, 200],
    ['GET', '/v1/chains', undefined, 200],
    ['GET', '/health', undefined, 200],
    ['GET', '/metrics', undefined, 200],
    ['GET', '/openapi.json', undefined, 200],
    ['POST', list, { chainId: chain.chainId }, 200],
    ['POST', list, { chainId: 1 }, 404],
    ['PUT', solvers, {}, 405],
    ['GET', '/v1/nothing', undefined, 404],
    ['GET', '/%zz', undefined, 400],
  ] as const) {
    const answer = await service.send(verb, path, body)
    expect([path, answer.status, answer.headers.get('cache-control')]).toEqual([path, status, 'no-store'])
  }
  await service.close()
})

describe('CORS', () => {
  const ORIGIN = 'https://app.example.org'
  const preflight = (service: TestService, path: string, verb: string, headers: string) =>
    service.send('OPTIONS', path, undefined, {
      headers: {
        origin: ORIGIN,
        'access-control-request-method': verb,
        'access-control-request-headers': headers,
      },
    })

  it('admits browsers of any origin by default, on REST, Connect and gRPC-Web', async () => {
    const service = await startService(chain)
    for (const [path, verb, header] of [
      [`/v1/${chain.chainId}/quote`, 'POST', 'content-type'],
      [`/v1/${chain.chainId}/solvers/${solverAccounts[0].address}`, 'DELETE', 'content-type'],
      ['/aggregator.v1.QuoteService/GetQuote', 'POST', 'connect-protocol-version'],
      ['/aggregator.v1.QuoteService/GetQuote', 'POST', 'x-grpc-web'],
    ] as const) {
      const { status, headers } = await preflight(service, path, verb, header)
      expect(status).toBe(204)
      expect(headers.get('access-control-allow-origin')).toBe('*')
      expect(headers.get('access-control-allow-methods')).toContain(verb)
      expect(headers.get('access-control-allow-headers')?.toLowerCase()).toContain(header)
    }
    const answer = await service.send('GET', `/v1/${chain.chainId}/solvers`, undefined, {
      headers: { origin: ORIGIN },
    })
    const exposed = answer.headers.get('access-control-expose-headers')?.toLowerCase()
    for (const header of ['grpc-status', 'grpc-message', 'x-request-id']) expect(exposed).toContain(header)
    const undecodable = await service.send('GET', '/v1/%zz', undefined, { headers: { origin: ORIGIN } })
    expect(undecodable.status).toBe(404)
    for (const header of ['access-control-allow-origin', 'x-request-id', 'x-content-type-options'])
      expect(undecodable.headers.get(header)).not.toBeNull()
    const metrics = await service.send('GET', '/metrics', undefined, { headers: { origin: ORIGIN } })
    expect([metrics.status, metrics.headers.get('access-control-allow-origin')]).toEqual([200, null])
    await service.close()
  })

  it('admits only the configured origins', async () => {
    const service = await startService(chain, { CORS_ORIGINS: `${ORIGIN},https://other.example.org` })
    const from = (origin: string) => service.send('GET', '/health', undefined, { headers: { origin } })
    expect((await from(ORIGIN)).headers.get('access-control-allow-origin')).toBe(ORIGIN)
    expect((await from('https://evil.example.org')).headers.get('access-control-allow-origin')).toBeNull()
    await service.close()
  })
})
