import { describe, expect, it, onTestFinished } from 'vitest'
import { createDevnetClient } from '../../../packages/cli/src/devnet/deploy.js'
import { systemClock } from '../../../packages/protocol/src/clock.js'
import { between } from '../../support/between.js'
import { solverAccounts, user } from '../../support/chain/chain.js'
import { startModelChain } from '../../support/model-chain/start-model-chain.js'
import { startService } from '../../support/service/service.js'
import { shared } from '../../support/shared.js'
import { register } from '../../support/solvers/solver.js'
import { METRICS_SPELLINGS, rawGet } from './metrics-spellings.js'

const chain = await shared(startModelChain({ bonded: 1 }))
const service = await shared(startService(chain))

describe('/health', () => {
  it('has the version, the chains and the active solvers', async () => {
    const uptimeMs = 90_500
    let aheadMs = 0
    const clock = {
      ...systemClock,
      now: () => Date.now() + aheadMs,
      monotonic: () => performance.now() + aheadMs,
    }
    const young = await startService(chain, {}, { clock })
    onTestFinished(() => young.close())
    const startedAt = Date.now()
    await register(young, chain.chainId, solverAccounts[0], { endpointUrl: 'http://127.0.0.1:9' })
    const head = await createDevnetClient(chain.devnet, user).getBlock()
    const before = Date.now()
    aheadMs = uptimeMs
    const { status, body } = await young.get('/health')
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
  })
})

describe('/metrics', () => {
  it('counts requests by method, protocol and reason', async () => {
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
  })

  it('has metrics of the process', async () => {
    expect((await service.get('/metrics')).body).toContain('process_resident_memory_bytes')
  })

  it('requires the password of METRICS_AUTH', async () => {
    const guarded = await startService(chain, { METRICS_AUTH: 'prometheus:a:secret' })
    onTestFinished(() => guarded.close())
    const withAuth = (text: string) =>
      guarded.send('GET', '/metrics?x', undefined, { headers: { authorization: `Basic ${btoa(text)}` } })
    expect((await guarded.get('/metrics')).status).toBe(401)
    expect((await guarded.get('/metrics?x')).headers.get('www-authenticate')).toMatch(/^Basic /)
    expect((await withAuth('prometheus:another')).status).toBe(401)
    expect((await withAuth('prometheus:a:secret')).status).toBe(200)
  })

  it('is served at no other spelling, which a proxy may let through', async () => {
    for (const path of METRICS_SPELLINGS)
      expect([path, (await rawGet(service.url, path)).status]).toEqual([path, 404])
    for (const path of ['/metrics', '/metrics?', '/metrics?x'])
      expect([path, (await rawGet(service.url, path)).status]).toEqual([path, 200])
  })
})

it('no cache stores an answer of the API, be it a result or an error', async () => {
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
})

describe('CORS', () => {
  const ORIGIN = 'https://app.example.org'

  it.each([
    [`/v1/${chain.chainId}/quote`, 'POST', 'content-type'],
    [`/v1/${chain.chainId}/solvers/${solverAccounts[0].address}`, 'DELETE', 'content-type'],
    ['/aggregator.v1.QuoteService/GetQuote', 'POST', 'connect-protocol-version'],
    ['/aggregator.v1.QuoteService/GetQuote', 'POST', 'x-grpc-web'],
  ])('admits browsers of any origin by default: %s, %s, %s', async (path, verb, header) => {
    const { status, headers } = await service.send('OPTIONS', path, undefined, {
      headers: {
        origin: ORIGIN,
        'access-control-request-method': verb,
        'access-control-request-headers': header,
      },
    })
    expect(status).toBe(204)
    expect(headers.get('access-control-allow-origin')).toBe('*')
    expect(headers.get('access-control-allow-methods')).toContain(verb)
    expect(headers.get('access-control-allow-headers')?.toLowerCase()).toContain(header)
  })

  const from = (path: string) => service.send('GET', path, undefined, { headers: { origin: ORIGIN } })

  it('lets a page read what RPC and the support need', async () => {
    const { headers } = await from(`/v1/${chain.chainId}/solvers`)
    const exposed = headers.get('access-control-expose-headers')?.toLowerCase()
    for (const header of ['grpc-status', 'grpc-message', 'x-request-id']) expect(exposed).toContain(header)
  })

  it('holds for a path that cannot be decoded, as other headers do', async () => {
    const { status, headers } = await from('/v1/%zz')
    expect(status).toBe(404)
    for (const header of ['access-control-allow-origin', 'x-request-id', 'x-content-type-options'])
      expect(headers.get(header)).not.toBeNull()
  })

  it('does not let a page read /metrics', async () => {
    const { status, headers } = await from('/metrics')
    expect([status, headers.get('access-control-allow-origin')]).toEqual([200, null])
  })

  it('admits only the configured origins', async () => {
    const strict = await startService(chain, { CORS_ORIGINS: `${ORIGIN},https://other.example.org` })
    onTestFinished(() => strict.close())
    const allowed = async (origin: string) => {
      const { headers } = await strict.send('GET', '/health', undefined, { headers: { origin } })
      return headers.get('access-control-allow-origin')
    }
    expect(await allowed(ORIGIN)).toBe(ORIGIN)
    expect(await allowed('https://evil.example.org')).toBeNull()
  })
})
