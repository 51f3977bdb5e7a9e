import type { IncomingHttpHeaders } from 'node:http'
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { systemClock } from '../../../packages/protocol/src/clock.js'
import { between } from '../../support/between.js'
import { solverAccounts, startChain, type TestChain } from '../../support/chain/chain.js'
import { startService, type TestService } from '../../support/service/service.js'
import { quoteRequest } from '../../support/solvers/quote-request.js'
import { honest, startSolver, type TestSolver } from '../../support/solvers/solver.js'

const NOW_MS = Date.now()

let chain: TestChain
let service: TestService
let solver: TestSolver
let received: IncomingHttpHeaders[]

beforeAll(async () => {
  chain = await startChain({ bonded: 1 })
  service = await startService(
    chain,
    { QUOTE_TIMEOUT_MS: '60000' },
    { clock: { ...systemClock, now: () => NOW_MS } },
  )
  const answer = honest()
  solver = await startSolver(chain, solverAccounts[0], (ask, own, exchange) => {
    received.push(exchange.request.headers)
    return answer(ask, own, exchange)
  })
  await solver.register(service)
})

afterAll(async () => {
  await service?.close()
  await solver?.close()
  await chain?.stop()
})

beforeEach(() => {
  received = []
})

const ask = (headers: Record<string, string> = {}) =>
  service.post(`/v1/${chain.chainId}/quote`, quoteRequest(chain), { headers })

describe('x-request-deadline', () => {
  it('is the end of the quote timeout', async () => {
    await ask()
    // What the request has waited in the service is part of it.
    expect(Number(received[0]?.['x-request-deadline']) - NOW_MS).toEqual(between(50_000, 60_000))
  })

  it("is shortly before the caller's own deadline, when that is earlier", async () => {
    await ask({ 'connect-timeout-ms': '50000' })
    const leftMs = Number(received[0]?.['x-request-deadline']) - NOW_MS
    // The request has taken some time of it before.
    expect(leftMs).toEqual(between(1, 49_800))
  })

  it('is in the request that checks a registration', async () => {
    await solver.register(service)
    expect(solver.checks.at(-1)?.headers['x-request-deadline']).toBe(String(NOW_MS + 1000))
  })
})

it("does not tell solvers the caller's trace, by which they would know that they serve the same request", async () => {
  const { status } = await ask({ traceparent: '00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01' })
  expect([status, Object.keys(received[0] ?? {}).filter((name) => name.startsWith('trace'))]).toEqual([
    200,
    [],
  ])
})
