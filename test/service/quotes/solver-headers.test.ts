import type { IncomingHttpHeaders } from 'node:http'
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { systemClock } from '../../../packages/protocol/src/clock.js'
import { between } from '../../support/between.js'
import { solverAccounts, startChain, type TestChain } from '../../support/chain/chain.js'
import { startService, type TestService } from '../../support/service/service.js'
import { quoteRequest } from '../../support/solvers/quote-request.js'
import { honest, startSolver, type TestSolver } from '../../support/solvers/solver.js'

const NOW_MS = Date.now()
const TRACEPARENT = '00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01'

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

describe('traceparent', () => {
  it('goes from a caller over REST to the solvers', async () => {
    await ask({ traceparent: TRACEPARENT })
    const body = quoteRequest(chain)
    await service.post(`/v1/${chain.chainId}/quote/stream`, body, { headers: { traceparent: TRACEPARENT } })
    expect(received.map(({ traceparent }) => traceparent)).toEqual([TRACEPARENT, TRACEPARENT])
  })

  it.each([
    ['without one', undefined],
    ['with one of another version', TRACEPARENT.replace('00-', '01-')],
    ['with the trace id zero', `00-${'0'.repeat(32)}-b7ad6b7169203331-01`],
    ['with the parent id zero', `00-0af7651916cd43dd8448eb211c80319c-${'0'.repeat(16)}-01`],
    ['with capital letters', TRACEPARENT.toUpperCase()],
    ['with more after it', `${TRACEPARENT}-x`],
  ])('is absent for a caller %s', async (_, traceparent) => {
    const { status } = await ask(traceparent === undefined ? {} : { traceparent })
    expect([status, received[0]?.traceparent]).toEqual([200, undefined])
  })
})
