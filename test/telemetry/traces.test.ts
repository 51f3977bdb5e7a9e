import pino from 'pino'
import { expect, it, onTestFinished } from 'vitest'
import { createMetrics } from '../../src/telemetry/metrics.js'
import { createTraces } from '../../src/telemetry/traces.js'
import { createManualClock } from '../support/manual-clock.js'
import { startCollector } from '../support/service/collector.js'

const PARENT = '00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-00'
const ID = expect.stringMatching(/^[0-9a-f]{16}$/)

function traceOf(parent?: string) {
  const times = { startMs: 1_800_000_000_000.25, endMs: 1_800_000_000_001 }
  const child = { name: 'round', kind: 'client', ...times, isError: true } as const
  return () => ({
    parent,
    root: { name: 'quote', ...times, attributes: { a: 'x', b: 2, c: undefined }, children: [child] },
  })
}

async function startTraces(status?: number) {
  const collector = await startCollector(status)
  const clock = createManualClock()
  const lines: Record<string, unknown>[] = []
  const log = pino({ level: 'info' }, { write: (line) => void lines.push(JSON.parse(line)) })
  const { traceSpans } = createMetrics()
  const target = { url: `${collector.url}/v1/traces?token=secret`, authorization: 'Basic x', share: 1 }
  const traces = createTraces({ target, spans: traceSpans, log, clock })
  onTestFinished(() => traces.close())
  const counted = async () => (await traceSpans.get()).values.map(({ value }) => value)
  return { collector, clock, traces, lines, counted }
}

it('what has come in 5 s is one request, with the parent of the caller', async () => {
  const { collector, clock, traces, counted } = await startTraces()
  traces.add(2, traceOf(PARENT))
  traces.add(2, traceOf())
  expect(collector.received).toEqual([])
  await clock.advance(5000)
  await expect.poll(counted).toEqual([4, 0])
  const [{ url, headers, body } = expect.unreachable()] = collector.received
  expect(url).toBe('/v1/traces?token=secret')
  expect(headers).toMatchObject({ 'content-type': 'application/json', authorization: 'Basic x' })
  const { resourceSpans } = JSON.parse(body)
  const { resource, scopeSpans } = resourceSpans[0]
  expect(resource.attributes[0]).toEqual({ key: 'service.name', value: { stringValue: 'quote-aggregator' } })
  const { spans } = scopeSpans[0]
  const times = { startTimeUnixNano: '1800000000000250000', endTimeUnixNano: '1800000000001000000' }
  const [, traceId, parentSpanId] = PARENT.split('-')
  const attributes = [
    { key: 'a', value: { stringValue: 'x' } },
    { key: 'b', value: { intValue: '2' } },
  ]
  expect(spans.slice(0, 2)).toEqual([
    { traceId, spanId: ID, parentSpanId, name: 'quote', kind: 1, ...times, attributes },
    {
      traceId,
      spanId: ID,
      parentSpanId: spans[0].spanId,
      name: 'round',
      kind: 3,
      ...times,
      attributes: [],
      status: { code: 2 },
    },
  ])
  expect(spans[2]).not.toHaveProperty('parentSpanId')
  expect(spans[2].traceId).toMatch(/^[0-9a-f]{32}$/)
  expect([spans[3].traceId, spans[3].parentSpanId]).toEqual([spans[2].traceId, spans[2].spanId])
  expect(new Set(spans.map(({ spanId }: { spanId: string }) => spanId)).size).toBe(4)
  // Nothing is sent without spans.
  await clock.advance(5000)
  expect(collector.received).toHaveLength(1)
})

it('at most 2,048 spans wait', async () => {
  const { traces, counted } = await startTraces()
  for (let added = 0; added < 1025; added++) traces.add(2, traceOf())
  expect(await counted()).toEqual([0, 2])
  await traces.close()
  expect(await counted()).toEqual([2048, 2])
})

it('what the collector does not take is dropped, and named once, without the URL', async () => {
  const { collector, clock, traces, lines, counted } = await startTraces(503)
  for (const dropped of [2, 4]) {
    traces.add(2, traceOf())
    await clock.advance(5000)
    await expect.poll(counted).toEqual([0, dropped])
  }
  collector.status = 200
  traces.add(2, traceOf())
  await clock.advance(5000)
  await expect.poll(counted).toEqual([2, 4])
  expect(lines.map(({ msg, reason }) => [msg, reason])).toEqual([
    ['traces cannot be sent', 'status 503'],
    ['traces are sent again', undefined],
  ])
  expect(JSON.stringify(lines)).not.toContain('secret')
})

it('a trace that cannot be built harms nobody', async () => {
  const { clock, traces, counted } = await startTraces()
  traces.add(1, () => {
    throw new Error('no trace')
  })
  await clock.advance(5000)
  await expect.poll(counted).toEqual([0, 1])
})

it('a collector that does not answer holds up the end for two seconds, and each batch for ten', async () => {
  const { collector, clock, traces, counted } = await startTraces(0)
  traces.add(1, traceOf())
  await clock.advance(5000)
  await expect.poll(() => collector.received.length).toBe(1)
  await clock.advance(10_000)
  await expect.poll(counted).toEqual([0, 1])
  traces.add(1, traceOf())
  traces.add(1, traceOf())
  const closed = traces.close()
  await expect.poll(() => collector.received.length).toBe(2)
  await clock.advance(2000)
  await closed
  expect(await counted()).toEqual([0, 3])
  expect(clock.waiting).toBe(0)
})
