import { connect } from 'node:net'
import { createRawHttpClient } from '../../support/clients/raw-http-client.js'
import { createRandom } from '../../support/random.js'

/** The response to one hostile request. `status` is 0 when the connection just ended. */
export interface HostileAnswer {
  readonly status: number
  readonly text: string
}

/** What every invented name has, so that it is found wherever the service has put it. */
export const MARK = 'zqx'
const ANSWER_WAIT_MS = 300
const VERBS = ['GET', 'POST', 'DELETE', 'PUT', 'PATCH', 'HEAD', 'OPTIONS', 'PROPFIND']
const RPC = ['QuoteService/GetQuote', 'SolverService/RegisterSolver', 'OrderService/ListOrders', `${MARK}/No`]
const TYPES = ['application/json', 'text/plain', 'application/connect+json', 'application/grpc', MARK]
const PREFACE = Buffer.from('PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n')
const PIECES = [
  '{',
  '}',
  '[',
  ']',
  ':',
  ',',
  '"amount"',
  '"__proto__"',
  '1e400',
  'null',
  '"\\ud800"',
  '\u0000',
]

/** A client that sends hostile requests. Equal seeds send the same. */
export function createHostileClient(url: string, seed: number) {
  const { hostname, port } = new URL(url)
  const { integer, bytes: exactly, pick: pickOf } = createRandom(seed)
  const below = (bound: number) => integer(0, bound - 1)
  const pick = <T>(values: readonly T[]): T => pickOf(values as [T])
  const bytes = (max: number) => Buffer.from(exactly(below(max) + 1))
  const http = createRawHttpClient(url)

  const chain = () => pick(['31337', '31337', '0100', '%00', MARK.repeat(below(1000))])
  const last = () =>
    pick([`0x${'ab'.repeat(below(40))}`, '..', '%2e', ';', `${MARK}${below(1e9)}`, 'b'.repeat(below(3000))])
  const path = () =>
    pick([
      `/v1/${chain()}/quote`,
      `/v1/${chain()}/solvers/${last()}`,
      `/v1/${chain()}/order/${last()}`,
      `/v1/${chain()}/solvers?${last()}`,
      `/${last()}/${last()}`,
      `/aggregator.v1.${pick(RPC)}`,
    ])
  const body = () =>
    pick([
      () => Buffer.from(Array.from({ length: below(40) }, () => pick(PIECES)).join('')),
      () => bytes(300),
      () => Buffer.from('['.repeat(below(30_000))),
      () => Buffer.alloc(below(50_000), 0x31),
    ])()

  function overHttp(): Promise<HostileAnswer> {
    const headers: Record<string, string> = { 'content-type': pick(TYPES) }
    if (below(4) === 0) headers[`x-${MARK}${below(1e9)}`] = 'y'.repeat(below(8000))
    if (below(4) === 0) headers['connect-timeout-ms'] = pick(['x', '-1', '9'.repeat(40)])
    return http.send(pick(VERBS), path(), { headers, body: body() })
  }

  /** Sends bytes over a connection of their own, and closes it at once or after the response. */
  function raw(sent: Buffer | string): Promise<HostileAnswer> {
    return new Promise((resolve) => {
      let text = ''
      const socket = connect(Number(port), hostname)
      socket.setEncoding('latin1').setTimeout(ANSWER_WAIT_MS, () => socket.destroy())
      socket.on('data', (chunk) => {
        text += chunk
      })
      socket.on('error', () => {})
      socket.once('close', () => {
        resolve({ status: Number(/^HTTP\/1\.1 (\d{3})/.exec(text)?.[1] ?? 0), text })
      })
      if (below(2) === 0) socket.write(sent, () => socket.destroy())
      else socket.end(sent)
    })
  }

  const head = () => `${pick(VERBS)} ${path()} HTTP/1.1\r\nhost: a\r\n`
  const frame = () => {
    const payload = bytes(60)
    const start = Buffer.from([0, 0, payload.length, below(12), below(256), 0, 0, 0, below(6)])
    return Buffer.concat([start, payload])
  }
  const kinds: readonly (() => Buffer | string)[] = [
    () => bytes(400),
    () => `${head()}content-length: 99\r\n\r\n{`,
    () => head().slice(0, below(40)),
    () => `${head()}x: ${'y'.repeat(17_000)}\r\n\r\n`,
    () => `${head()}transfer-encoding: chunked\r\n\r\n${pick(['zz\r\n', '-1\r\n', '5\r\nab'])}`,
    () => `${head()}content-length: 1\r\ncontent-length: 2\r\n\r\nab`,
    () => `${head()}\r\n`.repeat(below(20) + 1),
    () => Buffer.concat([PREFACE, bytes(300)]),
    () => Buffer.concat([PREFACE, Buffer.from([0, 0, 0, 4, 0, 0, 0, 0, 0]), frame(), frame(), frame()]),
  ]

  return {
    /** Sends one request of any kind; never rejects. */
    send: (): Promise<HostileAnswer> =>
      (below(2) === 0 ? overHttp() : raw(pick(kinds)())).catch(() => ({ status: 0, text: '' })),
    close: () => http.close(),
  }
}
