import { type ClientHttp2Session, connect as connectHttp2 } from 'node:http2'
import { connect } from 'node:net'
import { createRandom } from '../random.js'
import { createRawHttpClient } from './raw-http-client.js'

/** The response to one hostile request. `status` is 0 when the connection just ended. */
export interface HostileAnswer {
  readonly kind: string
  readonly status: number
  readonly text: string
}

const ANSWER_WAIT_MS = 300
const VERBS = ['GET', 'POST', 'DELETE', 'PUT', 'PATCH', 'HEAD', 'OPTIONS', 'PROPFIND']
const RPC = [
  'QuoteService/GetQuote',
  'SolverService/RegisterSolver',
  'SolverService/ListOwnResults',
  'OrderService/GetOrder',
  'OrderService/ListOrders',
  'Nothing/No',
]
const TYPES = [
  'application/json',
  'application/json; charset=x',
  'text/plain',
  'application/connect+json',
  'a',
]
const HTTP2_BEGINNING = Buffer.from('PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n')
const PIECES = [
  '{',
  '}',
  '[',
  ']',
  ':',
  ',',
  '"amount"',
  '"inputToken"',
  '"__proto__"',
  '1e400',
  'null',
  '"\\ud800"',
  '\u0000',
  '"a"',
]

/** A client that sends hostile requests. Equal seeds send the same. */
export function createHostileClient(url: string, seed: number) {
  const { hostname, port } = new URL(url)
  const random = createRandom(seed)
  const below = (bound: number) => random.integer(0, bound - 1)
  const pick = <T>(values: readonly T[]): T => values[below(values.length)] as T
  const bytes = (max: number) => Buffer.from(Array.from({ length: below(max) + 1 }, () => below(256)))
  const http = createRawHttpClient(url)
  let session: ClientHttp2Session | undefined

  const chainSegment = () =>
    pick(['31337', '31337', '2', '0100', '%00', 'a'.repeat(below(3000)), encodeURIComponent(`é${below(9)}`)])
  const lastSegment = () =>
    pick([
      `0x${'ab'.repeat(below(40))}`,
      '..',
      '%2e',
      ';',
      'register',
      'b'.repeat(below(3000)),
      `${below(1e9)}`,
    ])
  const path = () =>
    pick([
      () => `/v1/${chainSegment()}/quote`,
      () => `/v1/${chainSegment()}/solvers/${lastSegment()}`,
      () => `/v1/${chainSegment()}/order/${lastSegment()}`,
      () => `/v1/${chainSegment()}/solvers?${lastSegment()}`,
      () => `/${lastSegment()}/${lastSegment()}`,
      () => `/aggregator.v1.${pick(RPC)}`,
    ])()
  const jsonish = () => Buffer.from(Array.from({ length: below(40) }, () => pick(PIECES)).join(''))
  const oddBody = () =>
    pick([
      jsonish,
      jsonish,
      () => bytes(300),
      () => Buffer.from('['.repeat(below(30_000))),
      () => Buffer.alloc(below(50_000), 0x31),
    ])()

  async function overHttp(): Promise<HostileAnswer> {
    const verb = pick(VERBS)
    const headers: Record<string, string> = { 'content-type': pick(TYPES) }
    if (below(4) === 0) headers[`x-${below(1e9)}`] = 'y'.repeat(below(8000))
    if (below(4) === 0) headers['connect-timeout-ms'] = pick(['x', '-1', '9'.repeat(10), '9'.repeat(40)])
    const { status, text } = await http.send(verb, path(), { headers, body: oddBody() })
    return { kind: 'http', status, text }
  }

  function grpc(): Promise<HostileAnswer> {
    if (session === undefined || session.closed || session.destroyed) {
      session = connectHttp2(url).on('error', () => {})
    }
    const stream = session.request({
      ':method': 'POST',
      ':path': path(),
      'content-type': pick(['application/grpc', 'application/grpc+proto', 'application/grpc-web+proto']),
      te: 'trailers',
    })
    let status = 0
    let text = ''
    stream.on('response', (headers) => {
      status = headers[':status'] ?? 0
      text += headers['grpc-message'] ?? ''
    })
    stream.setEncoding('utf8').on('data', (chunk) => {
      text += chunk
    })
    stream.on('error', () => {})
    if (below(5) === 0) setImmediate(() => stream.destroy())
    else
      stream.end(pick([() => bytes(200), () => Buffer.concat([Buffer.from([0, 0, 0, 0, 20]), bytes(20)])])())
    return new Promise((resolve) => stream.once('close', () => resolve({ kind: 'grpc', status, text })))
  }

  /** Sends bytes over a connection of their own, and closes it at once or after the response. */
  function raw(kind: string, sent: Buffer | string, hangUp: boolean): Promise<HostileAnswer> {
    return new Promise((resolve) => {
      let text = ''
      const socket = connect(Number(port), hostname)
      socket.setEncoding('latin1').setTimeout(ANSWER_WAIT_MS, () => socket.destroy())
      socket.on('data', (chunk) => {
        text += chunk
      })
      socket.on('error', () => {})
      socket.once('close', () => {
        resolve({ kind, status: Number(/^HTTP\/1\.1 (\d{3})/.exec(text)?.[1] ?? 0), text })
      })
      if (hangUp) socket.write(sent, () => socket.destroy())
      else socket.end(sent)
    })
  }

  const head = () => `${pick(VERBS)} ${path()} HTTP/1.1\r\nhost: a\r\n`
  const frames = () =>
    Buffer.concat(
      Array.from({ length: below(6) + 1 }, () => {
        const payload = bytes(60)
        return Buffer.concat([
          Buffer.from([0, 0, payload.length, below(12), below(256), 0, 0, 0, below(6)]),
          payload,
        ])
      }),
    )
  const kinds: (() => Promise<HostileAnswer>)[] = [
    () => raw('garbage', bytes(400), false),
    () => raw('half a request', `${head()}content-length: 99\r\n\r\n{`, true),
    () => raw('half a head', head().slice(0, below(40)), below(2) === 0),
    () => raw('large headers', `${head()}x: ${'y'.repeat(17_000)}\r\n\r\n`, false),
    () =>
      raw(
        'bad chunks',
        `${head()}transfer-encoding: chunked\r\n\r\n${pick(['zz\r\n', '-1\r\n', '5\r\nab'])}`,
        false,
      ),
    () => raw('two lengths', `${head()}content-length: 1\r\ncontent-length: 2\r\n\r\nab`, false),
    () => raw('pipelined', `${head()}\r\n`.repeat(below(20) + 1), below(3) === 0),
    () => raw('HTTP/2 garbage', Buffer.concat([HTTP2_BEGINNING, bytes(300)]), below(2) === 0),
    () =>
      raw(
        'HTTP/2 frames',
        Buffer.concat([HTTP2_BEGINNING, Buffer.from([0, 0, 0, 4, 0, 0, 0, 0, 0]), frames()]),
        below(2) === 0,
      ),
  ]

  return {
    /** Sends one request of any kind; never rejects. */
    send(): Promise<HostileAnswer> {
      const kind = below(10)
      const answer = kind < 5 ? overHttp() : kind < 7 ? grpc() : pick(kinds)()
      return answer.catch((error) => ({ kind: `broken off: ${error.code}`, status: 0, text: '' }))
    },
    close() {
      http.close()
      session?.destroy()
    },
  }
}
