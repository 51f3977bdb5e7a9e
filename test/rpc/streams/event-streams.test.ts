import { create } from '@bufbuild/protobuf'
import { createContextValues, type HandlerContext } from '@connectrpc/connect'
import { expect, test } from 'vitest'
import { StreamEventsRequestSchema } from '../../../gen/aggregator/v1/event_pb.js'
import { ServiceError } from '../../../packages/protocol/src/errors.js'
import type { EventStream, EventStreams } from '../../../src/rpc/streams/event-streams.js'
import { toStreamHandler } from '../../../src/rpc/streams/event-streams.js'

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
  const handle = toStreamHandler(streams as unknown as EventStreams)
  const messages = handle(create(StreamEventsRequestSchema), context as unknown as HandlerContext)
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
