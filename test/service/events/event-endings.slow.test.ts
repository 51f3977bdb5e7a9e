import { once } from 'node:events'
import { connect } from 'node:http2'
import { create, toBinary } from '@bufbuild/protobuf'
import { encodeEnvelope } from '@connectrpc/connect/protocol'
import { describe, expect, it, onTestFinished } from 'vitest'
import { WebSocket } from 'ws'
import { StreamEventsRequestSchema } from '../../../gen/aggregator/v1/event_pb.js'
import { createTraffic } from '../../support/chain/event-traffic.js'
import { eventually } from '../../support/eventually.js'
import { startScene } from '../../support/service/scene.js'
import { startService, type TestService } from '../../support/service/service.js'
import type { StreamClient } from '../../support/streams/stream-clients.js'
import {
  type ExpectedEnd,
  endOn,
  openAll,
  rpcTransports,
  transports,
} from '../../support/streams/transports.js'

const PROTOCOLS = ['websocket', 'sse', 'grpc', 'connect', 'grpc-web']
const STREAM_EVENTS = '/aggregator.v1.EventService/StreamEvents'

const { chain, service } = await startScene()
const traffic = await createTraffic(chain, { seed: 31 })

async function clientsOf({ metric }: TestService): Promise<number[]> {
  return Promise.all(PROTOCOLS.map((protocol) => metric('aggregator_stream_clients', { protocol })))
}

const untilGone = (of: TestService) =>
  eventually(
    () => clientsOf(of),
    (counts) => counts.every((count) => count === 0),
  )

/** A client that leaves when its test ends, even if it fails: later tests wait until all places are free. */
function leaving(client: StreamClient): StreamClient {
  onTestFinished(() => client.leave())
  return client
}

/** Mines one event. @returns the id of its order */
async function mineOne(): Promise<string> {
  const order = traffic.order()
  await traffic.mine([traffic.actions.deposit(order)])
  return order.orderId
}

describe('a message of a WebSocket client', () => {
  async function openSocket() {
    const socket = new WebSocket(`${service.url.replace('http', 'ws')}/v1/ws`)
    onTestFinished(() => socket.terminate())
    const messages: string[] = []
    socket.on('message', (data) => messages.push(data.toString()))
    await once(socket, 'open')
    return { socket, messages }
  }

  /** An event of an earlier test may come first: the service polls the chain at its own interval. */
  const untilReceived = (messages: string[], orderId: string) =>
    eventually(
      async () => messages,
      (received) => received.some((message) => message.includes(orderId)),
    )

  it('closes only its own socket when it has more than 4 KiB', async () => {
    const [sender, neighbour] = [await openSocket(), await openSocket()]
    const closed = once(sender.socket, 'close')
    sender.socket.send('x'.repeat(4097))
    await closed
    await untilReceived(neighbour.messages, await mineOne())
    neighbour.socket.close()
    await untilGone(service)
  })
})

describe('a deadline of the caller', () => {
  const EXCEEDED = 'DEADLINE_EXCEEDED'
  const DEADLINE_MS = 1000

  it('ends a stream on every transport, and frees its place', async () => {
    const clients = rpcTransports.map(({ open }) =>
      leaving(open(service.url, {}, { timeoutMs: DEADLINE_MS })),
    )
    const endings = await Promise.all(clients.map((client) => client.ended()))
    expect(endings.map(({ status }, index) => [rpcTransports[index]?.name, status])).toEqual(
      rpcTransports.map(({ name }) => [name, EXCEEDED]),
    )
    await untilGone(service)
  })

  const request = encodeEnvelope(0, toBinary(StreamEventsRequestSchema, create(StreamEventsRequestSchema)))

  it('is also kept by the service on gRPC', async () => {
    const session = connect(service.url)
    const call = session.request({
      ':method': 'POST',
      ':path': STREAM_EVENTS,
      'content-type': 'application/grpc',
      'grpc-timeout': '200m',
      te: 'trailers',
    })
    call.end(request)
    call.resume()
    const [trailers] = await once(call, 'trailers')
    expect(trailers['grpc-status']).toBe('4')
    session.close()
    await untilGone(service)
  })
})

describe('the shutdown of the service', () => {
  const GOING: ExpectedEnd = { webSocket: 1001, http: 200, rpc: 'UNAVAILABLE', reason: 'SHUTTING_DOWN' }

  /** Server-sent events have no message for it: they end. */
  const farewell = (transport: (typeof transports)[number]) =>
    transport.protocol === 'sse' ? { status: 200 } : endOn(transport, GOING)

  it('is reported on every transport', async () => {
    const leaving = await startService(chain)
    const clients = await openAll(leaving.url)
    await mineOne()
    await Promise.all(clients.map((client) => client.take(1)))
    await leaving.close()
    for (const [index, transport] of transports.entries()) {
      expect(await clients[index]?.ended(), transport.name).toMatchObject(farewell(transport))
    }
  })
})
