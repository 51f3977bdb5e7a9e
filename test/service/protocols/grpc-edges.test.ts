import { once } from 'node:events'
import { connect, constants, type IncomingHttpHeaders } from 'node:http2'
import { createConnection } from 'node:net'
import { pino } from 'pino'
import { expect, it, onTestFinished } from 'vitest'
import { eventually } from '../../support/eventually.js'
import { startScene } from '../../support/service/scene.js'
import { startService } from '../../support/service/service.js'
import { FRAME, frame, headersFrame, PREFACE, settingsFrame } from './http2-frames.js'

const CHECK = '/grpc.health.v1.Health/Check'
const STREAM = '/aggregator.v1.EventService/StreamEvents'
const SOLVERS = '/aggregator.v1.SolverService/ListSolvers'
const REFLECT = ['v1', 'v1alpha'].map(
  (version) => `/grpc.reflection.${version}.ServerReflection/ServerReflectionInfo`,
)
const OK = '0'
const INVALID_ARGUMENT = '3'

const { chain, service } = await startScene()

function envelope(message: Uint8Array = new Uint8Array()): Buffer {
  const head = Buffer.alloc(5)
  head.writeUInt32BE(message.length, 1)
  return Buffer.concat([head, message])
}

/** Sends a request with headers that no library would send. */
function send(path: string, body: Uint8Array, headers: Record<string, string> = {}, url = service.url) {
  const session = connect(url)
  onTestFinished(() => session.destroy())
  const grpc = { 'content-type': 'application/grpc', te: 'trailers' }
  const stream = session.request({ ':method': 'POST', ':path': path, ...grpc, ...headers })
  let found: IncomingHttpHeaders = {}
  const add = (fields: IncomingHttpHeaders) => {
    found = { ...found, ...fields }
  }
  stream.on('response', add).on('trailers', add)
  stream.end(body)
  return { stream, fields: () => found }
}

async function answerTo(...[path, body, headers]: Parameters<typeof send>) {
  const { stream, fields } = send(path, body, headers)
  stream.resume()
  await once(stream, 'close')
  return fields()
}

it('a deadline longer than a timer can wait lets a gRPC call be answered', async () => {
  expect(await answerTo(CHECK, envelope(), { 'grpc-timeout': '99999999H' })).toMatchObject({
    'grpc-status': OK,
  })
})

const broken = Buffer.from([0x0a, 0xff, 0xff, 0xff, 0x0f])

it.each([CHECK, STREAM, ...REFLECT])('broken protobuf is an invalid argument for %s', async (path) => {
  const answer = await answerTo(path, envelope(broken))
  expect(answer['grpc-status']).toBe(INVALID_ARGUMENT)
})

it('broken protobuf is an invalid argument in Connect too', async () => {
  const headers = { 'content-type': 'application/proto' }
  const { status, body } = await service.send('POST', CHECK, undefined, { headers, body: broken })
  expect([status, body.code]).toEqual([400, 'invalid_argument'])
})

it('a call whose client leaves within the message counts', async () => {
  const counted = () =>
    service.metric('aggregator_requests_total', { protocol: 'connect', reason: 'MALFORMED' })
  const before = await counted()
  const { hostname, port } = new URL(service.url)
  const socket = createConnection(Number(port), hostname)
  await once(socket, 'connect')
  socket.write(
    `POST ${SOLVERS} HTTP/1.1\r\nhost: ${hostname}\r\ncontent-type: application/json\r\ncontent-length: 200\r\n\r\n{"chainId`,
  )
  // The service has read what was sent when it answers another request.
  await service.get('/health')
  socket.destroy()
  await eventually(counted, (count) => count === before + 1)
})

it('a wrong verb at the path of a method counts as METHOD_NOT_ALLOWED', async () => {
  const before = await service.metric('aggregator_requests_total', { reason: 'METHOD_NOT_ALLOWED' })
  const { status } = await service.send('PUT', SOLVERS, undefined, { body: '' })
  const after = await service.metric('aggregator_requests_total', { reason: 'METHOD_NOT_ALLOWED' })
  expect([status, after - before]).toEqual([405, 1])
})

it.each([...REFLECT, '/aggregator.v1.SolverService/OpenSession'])(
  'HTTP/1.1 at %s, which streams both ways, is refused with a reason and counts',
  async (path) => {
    const limited = await startService(chain, { RATE_LIMIT_MAX: '9' })
    onTestFinished(() => limited.close())
    const answer = await fetch(limited.url + path, {
      method: 'POST',
      headers: { 'content-type': 'application/connect+json' },
      body: '{}',
    })
    expect([answer.status, await answer.json()]).toEqual([
      505,
      { error: 'This method streams both ways, which takes HTTP/2.', code: 'METHOD_NOT_ALLOWED' },
    ])
    expect(answer.headers.get('ratelimit-remaining')).toBe('8')
  },
)

it.each([
  ['POST', STREAM],
  ['POST', '/aggregator.v1.SolverService/OpenSession'],
  ['GET', '/v1/events'],
])('%s %s that is reset as soon as it is sent is not handled', async (method, path) => {
  const lines: string[] = []
  const log = pino({ level: 'info' }, { write: (line: string) => void lines.push(line) })
  const { url, close } = await startService(chain, {}, { log })
  onTestFinished(() => close())
  lines.length = 0
  const { hostname, port } = new URL(url)
  const socket = createConnection(Number(port), hostname)
  onTestFinished(() => void socket.destroy())
  const common = { ':scheme': 'http', ':authority': hostname }
  const headers = { ...common, ':method': method, ':path': path, 'content-type': 'application/grpc' }
  const cancel = Buffer.from([0, 0, 0, constants.NGHTTP2_CANCEL])
  const resets = Array.from({ length: 200 }, (_, index) => [
    headersFrame(2 * index + 1, headers, false),
    frame(FRAME.reset, 0, 2 * index + 1, cancel),
  ])
  const last = headersFrame(401, { ...common, ':method': 'GET', ':path': '/v1/none' }, true)
  socket.write(Buffer.concat([PREFACE, settingsFrame(65_535)]))
  // Node reads what comes after the first bytes in another way.
  await once(socket, 'data')
  socket.write(Buffer.concat([...resets.flat(), last]))
  await eventually(
    async () => lines.filter((line) => line.includes('/v1/none')),
    ({ length }) => length > 0,
  )
  // One may be the end of what was read at once.
  expect(lines.length).toBeLessThanOrEqual(3)
})
