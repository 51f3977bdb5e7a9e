import type { IncomingHttpHeaders } from 'node:http'
import { beforeEach, describe, expect, it, onTestFinished } from 'vitest'
import { systemClock } from '../../../packages/protocol/src/clock.js'
import { between } from '../../support/between.js'
import { startCollector } from '../../support/service/collector.js'
import { startScene } from '../../support/service/scene.js'
import { startService } from '../../support/service/service.js'
import { quoteRequest } from '../../support/solvers/quote-request.js'
import { honest } from '../../support/solvers/solver.js'

const NOW_MS = Date.now()

let received: IncomingHttpHeaders[]

const scene = await startScene({
  solvers: ['Ada'],
  environment: { QUOTE_TIMEOUT_MS: '60000' },
  overrides: { clock: { ...systemClock, now: () => NOW_MS } },
})
const { chain, service } = scene
const [solver] = scene.solvers
solver.behave((...exchange) => {
  received.push(exchange[2].request.headers)
  return honest()(...exchange)
})

beforeEach(() => {
  received = []
})

const ask = (headers: Record<string, string> = {}) => scene.ask({}, { headers })

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

describe("a caller's traceparent", () => {
  const PARENT = { traceId: '0af7651916cd43dd8448eb211c80319c', spanId: 'b7ad6b7169203331' }
  const traceparent = `00-${PARENT.traceId}-${PARENT.spanId}-00`

  it('is the parent of the trace of its quote, whose solvers do not get it', async () => {
    const collector = await startCollector()
    const environment = { OTEL_EXPORTER_OTLP_ENDPOINT: collector.url, OTEL_TRACES_SAMPLER_ARG: '1' }
    const traced = await startService(chain, environment)
    onTestFinished(() => traced.close())
    await solver.register(traced)
    received.length = 0
    const body = quoteRequest(chain)
    const answer = await traced.post(`/v1/${chain.chainId}/quote`, body, { headers: { traceparent } })
    await traced.close()
    expect(Object.keys(received[0] ?? {}).filter((name) => name.startsWith('trace'))).toEqual([])
    expect(collector.received.map(({ url }) => url)).toEqual(['/v1/traces'])
    const [{ body: sent } = expect.unreachable()] = collector.received
    expect(sent.toLowerCase()).not.toContain(body.userAddress.toLowerCase())
    const { spans } = JSON.parse(sent).resourceSpans[0].scopeSpans[0]
    expect(spans).toMatchObject([
      { name: 'quote', traceId: PARENT.traceId, parentSpanId: PARENT.spanId },
      { name: 'wait for its turn', parentSpanId: spans[0].spanId },
      { name: 'round', parentSpanId: spans[0].spanId },
      { name: 'solver', parentSpanId: spans[2].spanId },
    ])
    const attribute = (span: { attributes: { key: string; value: object }[] }) =>
      span.attributes.find(({ key }) => key === 'quoteId')?.value
    expect(attribute(spans[0])).toEqual({ stringValue: answer.body.quoteId })
    expect(attribute(spans[3])).toEqual({ stringValue: received[0]?.['x-quote-id'] })
  })
})
