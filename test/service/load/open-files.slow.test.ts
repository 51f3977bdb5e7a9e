import { once } from 'node:events'
import { existsSync, readdirSync } from 'node:fs'
import { connect as connectHttp2 } from 'node:http2'
import { connect, type Socket } from 'node:net'
import { create, toBinary } from '@bufbuild/protobuf'
import { encodeEnvelope } from '@connectrpc/connect/protocol'
import { afterAll, expect, it } from 'vitest'
import { StreamEventsRequestSchema } from '../../../gen/aggregator/v1/event_pb.js'
import { startModelChain } from '../../support/model-chain/start-model-chain.js'
import { startServiceProcess } from '../../support/process/process.js'
import { environmentFor } from '../../support/service/service.js'
import { shared } from '../../support/shared.js'
import { webSocketHandshake } from '../../support/streams/raw-websocket.js'

/** Clients of each kind. What a kind leaves open is as many files. */
const CLIENTS = 20
/** Fewer than this come and go of the service's own connections, to its chain. */
const OWN_CHANGES = 5

const chain = await shared(startModelChain({ bonded: 0 }))
const service = startServiceProcess(environmentFor(chain))
const [, url = ''] = await service.waitFor(/"url":"([^"]+)"/)
const { hostname, port } = new URL(url)
const FILES = `/proc/${service.child.pid}/fd`

afterAll(async () => {
  service.signal('SIGTERM')
  await service.exited
})

const get = (path: string) => `GET ${path} HTTP/1.1\r\nhost: a\r\n`

/** What clients have sent when they break their connection. An answer has begun to come, if there is one. */
const TEXTS: [string, string][] = [
  ['nothing', ''],
  ['half a request', get('/health')],
  ['a request', `${get('/health')}\r\n`],
  ['pipelined requests for files', `${get('/docs/swagger-ui-bundle.js')}\r\n`.repeat(8)],
  ['a request for server-sent events', `${get('/v1/events')}\r\n`],
  ['a WebSocket', webSocketHandshake('/v1/ws')],
]

async function openSocket(): Promise<Socket> {
  const socket = connect(Number(port), hostname)
  socket.on('error', () => {})
  await once(socket, 'connect')
  return socket
}

async function openWith(text: string): Promise<Socket> {
  const socket = await openSocket()
  socket.write(text)
  if (text.endsWith('\r\n\r\n')) await once(socket, 'readable')
  return socket
}

/** A stream of events over gRPC. */
async function openGrpc(): Promise<Socket> {
  const socket = await openSocket()
  const session = connectHttp2(url, { createConnection: () => socket })
  const stream = session
    .on('error', () => {})
    .request({
      ':method': 'POST',
      ':path': '/aggregator.v1.EventService/StreamEvents',
      'content-type': 'application/grpc',
    })
  stream.on('error', () => {}).resume()
  stream.end(encodeEnvelope(0, toBinary(StreamEventsRequestSchema, create(StreamEventsRequestSchema))))
  await once(stream, 'response')
  return socket
}

const kinds: [string, () => Promise<Socket>][] = [
  ...TEXTS.map(([kind, text]): [string, () => Promise<Socket>] => [kind, () => openWith(text)]),
  ['a stream over gRPC', openGrpc],
]

it.runIf(existsSync(FILES)).each(kinds)(
  'a service has as many open files as before, when clients that have sent %s break their connections',
  async (_kind, open) => {
    const count = () => readdirSync(FILES).length
    const before = count()
    const sockets = await Promise.all(Array.from({ length: CLIENTS }, open))
    await expect.poll(count).toBeGreaterThan(before + CLIENTS - OWN_CHANGES)
    for (const [index, socket] of sockets.entries())
      if (index % 2 === 0) socket.resetAndDestroy()
      else socket.destroy()
    await expect.poll(count).toBeLessThan(before + OWN_CHANGES)
  },
)
