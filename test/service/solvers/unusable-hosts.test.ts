import { once } from 'node:events'
import { connect as connectHttp2, type IncomingHttpHeaders } from 'node:http2'
import { connect } from 'node:net'
import { afterAll, beforeAll, describe, expect, it, onTestFinished, vi } from 'vitest'
import { startChain, type TestChain } from '../../support/chain/chain.js'
import { startService, type TestService } from '../../support/service/service.js'

const RPC = '/aggregator.v1.SolverService/ListSolvers'
const UNUSABLE = ['[', '%zz', 'a:99999']
/** A URL's parser takes the beginning for the host. */
const DELIMITED = ['a/b', 'a?x', 'a#x', 'a\\b']
/** Some Nodes reset the stream of an HTTP/2 request with one of these, so that the service never sees it. */
const REFUSED_BY_SOME_NODES = ['user@:x', 'user:pw@a', 'a b', '', ...DELIMITED]

let chain: TestChain
let service: TestService

beforeAll(async () => {
  chain = await startChain({ bonded: 0 })
  service = await startService(chain)
})

afterAll(async () => {
  await service?.close()
  await chain?.stop()
})

/** One response of HTTP/1.1. */
async function exchange({ url }: TestService, firstLine: string, host: string): Promise<string> {
  const { hostname, port } = new URL(url)
  const socket = connect(Number(port), hostname)
  onTestFinished(() => void socket.destroy())
  const body = `{"chainId":${chain.chainId}}`
  const headers = `content-type: application/json\r\ncontent-length: ${body.length}\r\nconnection: close`
  socket.write(Buffer.from(`${firstLine}\r\n${host}${headers}\r\n\r\n${body}`, 'latin1'))
  return (await socket.setEncoding('utf8').toArray()).join('')
}

/** One response of HTTP/2. */
async function ask({ url }: TestService, path: string, headers: Record<string, string>, method = 'POST') {
  const session = connectHttp2(url)
  onTestFinished(() => session.destroy())
  const stream = session.request(
    { ':method': method, ':path': path, ...headers },
    { endStream: method === 'GET' },
  )
  if (method === 'POST') stream.end(`{"chainId":${chain.chainId}}`)
  const [answer] = (await once(stream, 'response')) as [IncomingHttpHeaders & { ':status': number }]
  return { status: answer[':status'], text: (await stream.setEncoding('utf8').toArray()).join('') }
}

function expectRefusal(text: string, field: string): void {
  expect(text).toContain('"code":"INVALID_ARGUMENT"')
  expect(text).toContain(`"field":"${field}"`)
}

function watchConsole() {
  const complaints = vi.spyOn(console, 'error')
  onTestFinished(() => complaints.mockRestore())
  return complaints
}

describe('a request is rejected, and nothing is written to the console,', () => {
  it.each<[string, string, string, string]>([
    ...[...UNUSABLE, ...DELIMITED, 'user@:x', 'user:pw@a', 'a b', 'a\tb']
      .map(
        (host) => [`an RPC with Host ${host}`, `POST ${RPC} HTTP/1.1`, `Host: ${host}\r\n`, 'Host'] as const,
      )
      .map((row): [string, string, string, string] => [...row]),
    ['an RPC with an empty Host', `POST ${RPC} HTTP/1.1`, 'Host: \r\n', 'Host'],
    ['an RPC over HTTP/1.0 without Host', `POST ${RPC} HTTP/1.0`, '', 'Host'],
    ['an RPC with an unusable URL', `POST http://[${RPC} HTTP/1.1`, 'Host: a\r\n', 'path'],
    ['a REST call with Host [', 'GET /health HTTP/1.1', 'Host: [\r\n', 'Host'],
  ])('when it is %s', async (_what, firstLine, host, field) => {
    const complaints = watchConsole()
    const answer = await exchange(service, firstLine, host)
    expect(answer).toMatch(/^HTTP\/1.1 400 /)
    expectRefusal(answer, field)
    expect(complaints.mock.calls).toEqual([])
  })

  it.each(['application/json', 'application/grpc', 'application/grpc-web+proto'])(
    'when its :authority is unusable and its type is %s',
    async (type) => {
      const complaints = watchConsole()
      for (const authority of UNUSABLE) {
        const { status, text } = await ask(service, RPC, { ':authority': authority, 'content-type': type })
        expect([authority, status]).toEqual([authority, 400])
        expectRefusal(text, ':authority')
      }
      expect(complaints.mock.calls).toEqual([])
    },
  )

  it.each(REFUSED_BY_SOME_NODES)(
    'when its :authority is %j, by the protocol or by the service',
    async (authority) => {
      const complaints = watchConsole()
      const headers = { ':authority': authority, 'content-type': 'application/grpc' }
      const outcome = await ask(service, RPC, headers).then(
        ({ status }) => String(status),
        (error: Error) => error.message,
      )
      expect(outcome).toMatch(/^400$|PROTOCOL_ERROR/)
      expect(complaints.mock.calls).toEqual([])
    },
  )
})

it('rejections of a Host count against the limit of all requests', async () => {
  const limited = await startService(chain, { RATE_LIMIT_MAX: '3' })
  onTestFinished(() => limited.close())
  const statuses: (string | undefined)[] = []
  for (const host of ['Host: [\r\n', 'Host: \r\n', 'Host: a\r\nHost: b\r\n', 'Host: [\r\n', 'Host: \r\n'])
    statuses.push((await exchange(limited, `POST ${RPC} HTTP/1.1`, host)).split(' ')[1])
  expect(statuses).toEqual(['400', '400', '400', '429', '429'])
  const { status } = await ask(limited, RPC, { ':authority': '[', 'content-type': 'application/grpc' })
  expect(status).toBe(429)
})
