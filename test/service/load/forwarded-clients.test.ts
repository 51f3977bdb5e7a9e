import { once } from 'node:events'
import { request as httpRequest, type OutgoingHttpHeaders } from 'node:http'
import { type ClientHttp2Session, connect as connectHttp2 } from 'node:http2'
import { afterEach, describe, expect, it } from 'vitest'
import WebSocket from 'ws'
import { createLog } from '../../../src/telemetry/log.js'
import { startModelChain } from '../../support/model-chain/start-model-chain.js'
import { startService, type TestService } from '../../support/service/service.js'
import { shared } from '../../support/shared.js'

const SOCKET_ADDRESS = '127.0.0.1'
/** Characters that a terminal obeys or hides: control and format characters, and line separators. */
const PATH = '/\x9b31m\xad\u00e9'
const UNPRINTABLE = /[\p{C}\p{Zl}\p{Zp}]/u

let service: TestService
const texts: string[] = []

const chain = await shared(startModelChain({ bonded: 0 }))

afterEach(() => service?.close())

async function start(environment: Record<string, string>): Promise<void> {
  texts.length = 0
  const log = createLog('debug', { write: (text) => void texts.push(text) })
  service = await startService(chain, environment, { log })
}

/** Sends one request over HTTP/1.1 with exactly these headers. @returns the status */
function send(headers: OutgoingHttpHeaders, path = `/v1/${chain.chainId}/solvers`): Promise<number> {
  return new Promise((resolve, reject) => {
    const call = httpRequest(service.url, { path, headers, agent: false }, (response) => {
      response.resume().on('end', () => resolve(response.statusCode ?? 0))
    })
    call.on('error', reject).end()
  })
}

/** Does the same over HTTP/2. */
async function sendHttp2(session: ClientHttp2Session, headers: OutgoingHttpHeaders): Promise<void> {
  const stream = session.request({ ':path': `/v1/${chain.chainId}/solvers`, ...headers })
  stream
    .on('error', () => {})
    .resume()
    .end()
  await once(stream, 'close')
}

const isRequest = (text: string) => text.includes('"msg":"request"')
const requestTexts = (count: number) =>
  expect
    .poll(() => texts.filter(isRequest).length)
    .toBe(count)
    .then(() => texts.filter(isRequest))

/** The clients in the log for these values of X-Forwarded-For, with one request each. */
async function clientsOf(values: readonly string[]): Promise<string[]> {
  for (const value of values) await send({ 'x-forwarded-for': value })
  return (await requestTexts(values.length)).map((text) => JSON.parse(text).client)
}
describe('a line of the log is JSON with all its fields', () => {
  it('and contains no control sequence of terminals, for any path', async () => {
    await start({})
    const session = connectHttp2(service.url)
    await sendHttp2(session, { ':path': PATH })
    session.close()
    const [text = ''] = await requestTexts(1)
    expect(text.trimEnd()).not.toMatch(UNPRINTABLE)
    expect(JSON.parse(text).path).toBe(PATH)
  })
})

describe('the client is the last address that trusted proxies report', () => {
  const [one, v6, socket] = ['198.51.100.1', '2001:db8::1', SOCKET_ADDRESS]

  it.each<[string, [header: string, client: string][]]>([
    ['false', [[one, socket]]],
    [
      '1',
      [
        [one, one],
        ['1.1.1.1, 198.51.100.1', one],
        // Without its port.
        ['198.51.100.1:4711', one],
        ['[2001:db8::1]:4711', v6],
        ['[2001:db8::1]', v6],
        [v6, v6],
      ],
    ],
    [
      '2',
      [
        ['198.51.100.1, 10.0.0.1', one],
        ['", 198.51.100.1', one],
        // The nearest proxy, when the entry is no IP address.
        ...['unknown', '198.51.100.1, "', '0x7f.1', '100', 'fe80::1%eth0', '1.2.3.4:x', ','].map(
          (header): [string, string] => [header, socket],
        ),
      ],
    ],
    [
      '127.0.0.0/8,10.0.0.0/8',
      [
        ['198.51.100.1, 10.0.0.1', one],
        ['198.51.100.2, 198.51.100.1, 10.0.0.2', one],
      ],
    ],
  ])('with TRUST_PROXY=%s', async (trusted, cases) => {
    await start(trusted === 'false' ? {} : { TRUST_PROXY: trusted })
    expect(await clientsOf(cases.map(([header]) => header))).toEqual(cases.map(([, client]) => client))
  })

  it('also for a path that cannot be decoded', async () => {
    await start({ TRUST_PROXY: '1' })
    expect(await send({ 'x-forwarded-for': '198.51.100.1' }, '/%zz')).toBe(400)
    const [text = ''] = await requestTexts(1)
    expect(JSON.parse(text)).toMatchObject({ client: '198.51.100.1', path: '/%zz', status: 400 })
  })

  it('on a WebSocket and on gRPC too', async () => {
    await start({ TRUST_PROXY: '1' })
    const headers = { 'x-forwarded-for': '"\\' }
    const socket = new WebSocket(`${service.url.replace('http', 'ws')}/v1/ws`, { headers })
    await once(socket, 'message')
    socket.terminate()
    const session = connectHttp2(service.url)
    const path = '/aggregator.v1.SolverService/ListSolvers'
    await sendHttp2(session, {
      ...headers,
      ':method': 'POST',
      ':path': path,
      'content-type': 'application/grpc',
    })
    session.close()
    expect((await requestTexts(2)).map((text) => JSON.parse(text).client)).toEqual([
      SOCKET_ADDRESS,
      SOCKET_ADDRESS,
    ])
  })
})
