import { once } from 'node:events'
import { connect, type IncomingHttpHeaders } from 'node:http2'
import { encodeEnvelope } from '@connectrpc/connect/protocol'
import { afterAll, expect, it } from 'vitest'
import { startScene } from '../../support/service/scene.js'

const CALLS = 100
const LIMIT = 20
const SOLVERS = '/aggregator.v1.SolverService/ListSolvers'
const EVENTS = '/aggregator.v1.EventService/StreamEvents'
const QUOTE = '/v1/<chain>/quote'
/** A number that does not end. */
const BROKEN = Buffer.from([0x08, 0xff])
const ENVELOPE = encodeEnvelope(0, BROKEN)
const REFUSED = /"grpc-status":"8"|grpc-status: 8\r|"code":"resource_exhausted"|"code":"RATE_LIMITED"/

const limit = String(LIMIT)
const { chain, service } = await startScene({
  environment: {
    TRUST_PROXY: '1',
    RATE_LIMIT_MAX: limit,
    RATE_LIMIT_SOLVERS: limit,
    RATE_LIMIT_STREAMS: limit,
    RATE_LIMIT_QUOTE: limit,
  },
})
const session = connect(service.url)

afterAll(async () => {
  session?.destroy()
})

/** @param forwardedFor the address of the client @returns the request, whose body is still to be sent, and what is answered */
function open(path: string, contentType: string, forwardedFor: string) {
  const stream = session.request({
    ':method': 'POST',
    ':path': path.replace('<chain>', String(chain.chainId)),
    'content-type': contentType,
    'x-forwarded-for': forwardedFor,
    te: 'trailers',
  })
  let fields: IncomingHttpHeaders = {}
  let text = ''
  const add = (more: IncomingHttpHeaders) => {
    fields = { ...fields, ...more }
  }
  stream
    .on('response', add)
    .on('trailers', add)
    .setEncoding('latin1')
    .on('data', (data) => {
      text += data
    })
  return { stream, answer: () => ({ fields, text: `${JSON.stringify(fields)} ${text}` }) }
}

async function answerTo(path: string, contentType: string, body: Uint8Array, forwardedFor: string) {
  const { stream, answer } = open(path, contentType, forwardedFor)
  stream.end(body)
  await once(stream, 'close')
  return answer()
}

const protocols: [string, string, string, Uint8Array][] = [
  ['gRPC', SOLVERS, 'application/grpc', ENVELOPE],
  ['a stream of gRPC', EVENTS, 'application/grpc', ENVELOPE],
  ['gRPC-Web', SOLVERS, 'application/grpc-web+proto', ENVELOPE],
  ['a stream of gRPC-Web', EVENTS, 'application/grpc-web+proto', ENVELOPE],
  ['Connect', SOLVERS, 'application/proto', BROKEN],
  ['Connect with JSON', SOLVERS, 'application/json', Buffer.from('{')],
  ['a stream of Connect', EVENTS, 'application/connect+proto', ENVELOPE],
  ['a second message of gRPC', EVENTS, 'application/grpc', Buffer.concat([new Uint8Array(5), ENVELOPE])],
  ['REST', QUOTE, 'application/json', Buffer.from('{')],
]

it.each([
  ['v1', '198.51.100.98'],
  ['v1alpha', '198.51.100.99'],
])('broken messages of one client meet the limit: gRPC server reflection %s', async (version, client) => {
  const path = `/grpc.reflection.${version}.ServerReflection/ServerReflectionInfo`
  const calls = Array.from({ length: CALLS }, () => answerTo(path, 'application/grpc', ENVELOPE, client))
  const answers = await Promise.all(calls)
  expect(answers.filter(({ text }) => REFUSED.test(text))).toHaveLength(CALLS - LIMIT)
})

it.each(protocols)(
  'broken messages meet the limit of a client, and a call above it is refused before its body comes: %s',
  async (name, path, type, body) => {
    const address = `198.51.100.${protocols.findIndex(([known]) => known === name) + 1}`
    const calls = Array.from({ length: LIMIT }, () => answerTo(path, type, body, address))
    const answers = await Promise.all(calls)
    expect(answers.filter(({ text }) => REFUSED.test(text))).toEqual([])
    const { stream, answer } = open(path, type, address)
    await once(stream, 'end')
    const { text, fields } = answer()
    expect(text).toMatch(REFUSED)
    expect(fields).toMatchObject({
      'ratelimit-limit': String(LIMIT),
      'ratelimit-remaining': '0',
      'retry-after': expect.stringMatching(/^\d+$/),
      'x-request-id': expect.any(String),
    })
    stream.destroy()
  },
)

it('broken messages count by their method, and not as errors of the service', async () => {
  const counted = (method: string, reason: string) =>
    service.metric('aggregator_requests_total', { method, reason })
  for (const method of [SOLVERS, EVENTS]) expect(await counted(method.slice(1), 'MALFORMED')).toBe(4 * LIMIT)
  expect(await service.metric('aggregator_requests_total', { reason: 'INTERNAL' })).toBe(0)
})
