import { create } from '@bufbuild/protobuf'
import { createContextValues, type HandlerContext } from '@connectrpc/connect'
import { expect, test } from 'vitest'
import { ChainStatus } from '../../../gen/aggregator/v1/chain_health_pb.js'
import { StreamEventsRequestSchema } from '../../../gen/aggregator/v1/event_pb.js'
import { ServiceError } from '../../../packages/protocol/src/errors.js'
import {
  createEventStreams,
  type EventStream,
  type EventStreams,
  toStreamHandler,
} from '../../../src/rpc/streams/event-streams.js'
import { createLog } from '../../../src/telemetry/log.js'
import { createMetrics } from '../../../src/telemetry/metrics.js'
import { createManualClock } from '../../support/manual-clock.js'
import { only } from '../../support/only.js'

/** A stream that has one heartbeat to send, and then ends with an error. */
function openStream() {
  const closedWith: unknown[] = []
  const leaving = new AbortController()
  const tooSlow = new ServiceError('SUBSCRIBER_TOO_SLOW', 'text')
  let calls = 0
  const stream: EventStream = {
    subscription: { ended: new AbortController().signal, cursor: () => 'cursor' },
    async next() {
      if (calls++ > 0) throw tooSlow
      return []
    },
    dueHealth: () => undefined,
    close(thrown) {
      closedWith.push(thrown)
      return thrown as ServiceError | undefined
    },
  }
  const streams = { supportedChains: [1], waitForCursor: () => undefined, open: () => stream }
  const context = {
    values: createContextValues(),
    signal: leaving.signal,
    requestHeader: new Headers(),
    timeoutMs: () => undefined,
  }
  const handle = toStreamHandler(only<EventStreams>(streams))
  const messages = handle(create(StreamEventsRequestSchema), only<HandlerContext>(context))
  return { messages, closedWith, leave: () => leaving.abort(), tooSlow }
}

test('a stream of events closes without an error when a write to its client fails before the client has left', async () => {
  const { messages, closedWith, leave } = openStream()
  await messages.next()
  await messages.next()
  await messages.throw(new Error('write ECONNRESET')).catch(() => {})
  leave()
  expect(closedWith).toEqual([undefined])
})

test('a stream of events closes when its client leaves while a message waits for it', async () => {
  const { messages, closedWith, leave } = openStream()
  await messages.next()
  leave()
  expect(closedWith).toEqual([undefined])
})

test('a stream of events ends with the error of its subscription', async () => {
  const { messages, closedWith, tooSlow } = openStream()
  await messages.next()
  await messages.next()
  await expect(messages.next()).rejects.toBe(tooSlow)
  expect(closedWith).toEqual([tooSlow])
})

/** The method over a log with one subscription. */
const streamsOf = (subscription: object, clock = createManualClock()) =>
  createEventStreams(
    only({
      supportedChains: [1],
      slots: { take: () => () => {} },
      metrics: createMetrics(),
      clock,
      log: createLog('silent'),
    }),
    only({ subscribe: () => subscription, waitForCursor: () => undefined }),
    () => [only({ chainId: 1n, status: ChainStatus.OK })],
  )

test('a filter with one bad value is refused by its name', () => {
  const request = create(StreamEventsRequestSchema, { user: ['nobody'] })
  const open = () => streamsOf({}).open(request, only({ protocol: 'sse' }))
  expect(open).toThrow(expect.objectContaining({ violations: [expect.objectContaining({ field: 'user' })] }))
})

test('a stream that asks for the health reports it at once, and every 15 s whatever comes between', async () => {
  const clock = createManualClock()
  const waits: (number | undefined)[] = []
  const subscription = {
    cursor: () => 'cursor',
    async next(until?: number) {
      waits.push(until)
      return []
    },
  }
  const streams = streamsOf(subscription, clock)
  const open = (health: boolean) =>
    streams.open(create(StreamEventsRequestSchema, { health }), only({ protocol: 'sse' }))
  const [stream, other] = [open(true), open(false)]
  expect(stream.dueHealth()).toMatchObject({ cursor: 'cursor' })
  for (const passedMs of [0, 14_999]) {
    await clock.advance(passedMs)
    expect(stream.dueHealth()).toBeUndefined()
    await stream.next()
  }
  await clock.advance(1)
  expect([stream.dueHealth(), other.dueHealth()]).toEqual([expect.anything(), undefined])
  expect(waits).toEqual([15_000, 15_000])
})
