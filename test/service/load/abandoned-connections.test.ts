import { once } from 'node:events'
import { connect as connectHttp2 } from 'node:http2'
import { connect, type Socket } from 'node:net'
import { create, toBinary } from '@bufbuild/protobuf'
import { encodeEnvelope } from '@connectrpc/connect/protocol'
import { pino } from 'pino'
import { describe, expect, it, onTestFinished, vi } from 'vitest'
import { StreamEventsRequestSchema } from '../../../gen/aggregator/v1/event_pb.js'
import { HealthCheckRequestSchema } from '../../../gen/health/v1/health_pb.js'
import { startScene } from '../../support/service/scene.js'
import { countConnections } from '../../support/service/server-connections.js'
import { quoteRequest } from '../../support/solvers/quote-request.js'
import { webSocketHandshake } from '../../support/streams/raw-websocket.js'

/** Before a ping of the server or one of its time-outs would find out that a client has left. */
const RELEASED_MS = 25_000
const BUNDLE = '/docs/swagger-ui-bundle.js'

const WAYS_TO_LEAVE: [string, (socket: Socket) => void][] = [
  ['FIN', (socket) => socket.end()],
  ['RST', (socket) => socket.resetAndDestroy()],
]
const getOf = (path: string) => `GET ${path} HTTP/1.1\r\nhost: a\r\n\r\n`

const lines: { level: number; msg: string; reason?: string; client?: string }[] = []

const log = pino({ level: 'info' }, { write: (line) => void lines.push(JSON.parse(line)) })
const { chain, service } = await startScene({ solvers: ['Ada'], overrides: { log } })

const streamClients = () => service.metric('aggregator_stream_clients', {})

async function openSocket(): Promise<Socket> {
  const { hostname, port } = new URL(service.url)
  const socket = connect(Number(port), hostname)
  socket.on('error', () => {})
  onTestFinished(() => void socket.destroy())
  await once(socket, 'connect')
  return socket
}

/** A session on a connection of its own, which tests may break. */
async function openSession(options: { initialWindowSize?: number } = {}) {
  const socket = await openSocket()
  const session = connectHttp2(service.url, { createConnection: () => socket, settings: options })
  session.on('error', () => {})
  await once(session, 'remoteSettings')
  return { socket, session }
}

/** Sends a request over HTTP/2. */
function ask(
  session: ReturnType<typeof connectHttp2>,
  headers: Record<string, string>,
  body?: Uint8Array | string,
) {
  const stream = session.request(headers, { endStream: body === undefined })
  stream.on('error', () => {}).resume()
  if (body !== undefined) stream.end(body)
  return stream
}

const rpc = (path: string, type: string) => ({ ':method': 'POST', ':path': path, 'content-type': type })
const noFields = (schema: Parameters<typeof create>[0]) => encodeEnvelope(0, toBinary(schema, create(schema)))
const EVENTS = '/aggregator.v1.EventService/StreamEvents'
const WATCH = '/grpc.health.v1.Health/Watch'
const REFLECTION = '/grpc.reflection.v1.ServerReflection/ServerReflectionInfo'

async function untilReleased(open: () => number): Promise<void> {
  await expect.poll(open, { timeout: RELEASED_MS, message: 'open connections' }).toBe(0)
  await expect.poll(streamClients, { timeout: RELEASED_MS, message: 'stream places in use' }).toBe(0)
}

describe.each(WAYS_TO_LEAVE)(
  'a client that leaves by %s frees its connection and its place',
  (_how, leave) => {
    it.each<[string, Record<string, string>, (Uint8Array | string)?]>([
      ['server-sent events', { ':path': '/v1/events' }],
      ['gRPC', rpc(EVENTS, 'application/grpc'), noFields(StreamEventsRequestSchema)],
      ['gRPC-Web', rpc(EVENTS, 'application/grpc-web+proto'), noFields(StreamEventsRequestSchema)],
      ['Connect', rpc(EVENTS, 'application/connect+proto'), noFields(StreamEventsRequestSchema)],
      ['a health watcher', rpc(WATCH, 'application/grpc'), noFields(HealthCheckRequestSchema)],
      ['a file', { ':path': BUNDLE }],
      ['a REST route', { ':path': '/openapi.json' }],
    ])('when it used %s over HTTP/2', async (_what, headers, body) => {
      const open = countConnections(service.url)
      for (const settings of [{}, { initialWindowSize: 0 }]) {
        const { socket, session } = await openSession(settings)
        await once(ask(session, headers, body), 'response')
        leave(socket)
      }
      await untilReleased(open)
    })

    it('when it used reflection and has more questions', async () => {
      const open = countConnections(service.url)
      const { socket, session } = await openSession()
      const stream = session.request(rpc(REFLECTION, 'application/grpc'))
      stream.on('error', () => {}).resume()
      stream.write(Buffer.from([0, 0, 0, 0, 2, 0x3a, 0]))
      await once(stream, 'response')
      leave(socket)
      await untilReleased(open)
    })

    it.each([
      ['a WebSocket', webSocketHandshake('/v1/ws')],
      [
        'a refused WebSocket with two Host headers',
        webSocketHandshake('/v1/ws').replace('host: a', 'host: a\r\nhost: b'),
      ],
      ['server-sent events', getOf('/v1/events')],
      ['a file', getOf(BUNDLE)],
      ['server-sent events in pipelined requests', getOf('/v1/events').repeat(3)],
      [
        'server-sent events after pipelined requests for files',
        getOf('/v1/events') + getOf(BUNDLE).repeat(3),
      ],
    ])('when it used %s over HTTP/1.1', async (_what, text) => {
      const open = countConnections(service.url)
      const socket = await openSocket()
      socket.write(text)
      await once(socket, 'readable')
      leave(socket)
      await untilReleased(open)
    })
  },
)

it('connections that clients reset at once are not counted as errors of the service', async () => {
  const complaints = vi.spyOn(console, 'error')
  onTestFinished(() => complaints.mockRestore())
  const open = countConnections(service.url)
  const { hostname, port } = new URL(service.url)
  const json = JSON.stringify(quoteRequest(chain))
  const post = (path: string, type: string, body: string) =>
    `POST ${path} HTTP/1.1\r\nhost: a\r\ncontent-type: ${type}\r\ncontent-length: ${body.length}\r\n\r\n${body}`
  const texts = [
    getOf('/v1/31337/solvers'),
    getOf('/%'),
    getOf('/nothing'),
    getOf('/v1/events'),
    getOf(BUNDLE),
    webSocketHandshake('/v1/ws'),
    post('/v1/31337/quote', 'application/json', json),
    post('/v1/31337/quote', 'application/json', json).slice(0, -5),
    post('/aggregator.v1.QuoteService/GetQuote', 'application/json', json),
    post('/aggregator.v1.QuoteService/GetQuote', 'application/json', json).slice(0, -5),
    post(EVENTS, 'application/connect+json', '\0\0\0\0\u0002{}'),
    post(EVENTS, 'application/grpc-web+proto', '\0\0\0\0\0'),
  ]
  const resets = Array.from({ length: 25 }, () => texts)
    .flat()
    .map(
      (text) =>
        new Promise<void>((resolve) => {
          const socket = connect(Number(port), hostname, () =>
            socket.write(text, () => socket.resetAndDestroy()),
          )
          socket.on('error', () => {}).once('close', () => resolve())
        }),
    )
  await Promise.all(resets)
  await expect.poll(() => open()).toBe(0)
  expect((await service.get('/health')).status).toBe(200)
  expect(await service.metric('aggregator_requests_total', { reason: 'INTERNAL' })).toBe(0)
  expect(lines.filter(({ level, reason }) => level >= 50 || reason === 'INTERNAL')).toEqual([])
  expect(lines.filter(({ msg, client }) => msg === 'request' && (!client || client === 'undefined'))).toEqual(
    [],
  )
  expect(complaints.mock.calls).toEqual([])
})
