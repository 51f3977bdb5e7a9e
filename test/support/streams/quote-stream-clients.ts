import { once } from 'node:events'
import { request as httpRequest, type IncomingMessage } from 'node:http'
import { connect as connectHttp2 } from 'node:http2'
import { Code, ConnectError, createClient, type Transport } from '@connectrpc/connect'
import { createConnectTransport, createGrpcTransport, createGrpcWebTransport } from '@connectrpc/connect-node'
import { DepositMode, OrderType, QuoteService, VerifyMode } from '../../../gen/aggregator/v1/quote_pb.js'
import { BadRequestSchema, ErrorInfoSchema } from '../../../gen/google/rpc/error_details_pb.js'

/** The body of a request, with the names of the protocol's JSON. */
// biome-ignore lint/suspicious/noExplicitAny: tests also send what is not valid
export type QuoteStreamRequest = Record<string, any>

/** A message in the form of server-sent events. */
// biome-ignore lint/suspicious/noExplicitAny: tests look into both kinds of messages
export type QuoteMessage = { type: 'quote' | 'done' } & Record<string, any>

/** An error before or after the stream has opened. */
export class QuoteStreamError extends Error {
  /** @param status of HTTP, or the RPC code; 200 when server-sent events had opened */
  constructor(
    readonly reason: string | undefined,
    readonly status: number | string,
    readonly fields: readonly string[],
    readonly quoteId: string | undefined,
  ) {
    super(`${reason} (${status})`)
  }
}

/** A way to call StreamQuotes. */
export interface QuoteTransport {
  readonly name: string
  /** Its label in the metrics. */
  readonly protocol: string
  /** @param signal makes the client leave. @throws QuoteStreamError, while it is iterated */
  open(
    url: string,
    chainId: number,
    request: QuoteStreamRequest,
    signal?: AbortSignal,
  ): AsyncIterable<QuoteMessage>
}

/** All messages of a stream that ends. @throws QuoteStreamError */
export async function readAll(messages: AsyncIterable<QuoteMessage>): Promise<QuoteMessage[]> {
  const all: QuoteMessage[] = []
  for await (const message of messages) all.push(message)
  return all
}

/** The error with which a stream ends. @throws Error when it has none */
export async function errorOf(messages: AsyncIterable<QuoteMessage>): Promise<QuoteStreamError> {
  let all: QuoteMessage[]
  try {
    all = await readAll(messages)
  } catch (thrown) {
    if (thrown instanceof QuoteStreamError) return thrown
    throw thrown
  }
  throw new Error(`the stream had no error, but ${JSON.stringify(all)}`)
}

/** Server-sent events over HTTP/1.1. */
async function* openSse(
  url: string,
  chainId: number,
  request: QuoteStreamRequest,
  signal?: AbortSignal,
): AsyncGenerator<QuoteMessage> {
  const call = httpRequest(`${url}/v1/${chainId}/quote/stream`, {
    method: 'POST',
    agent: false,
    headers: { 'content-type': 'application/json' },
    ...(signal === undefined ? {} : { signal }),
  })
  call.on('error', () => {})
  call.end(JSON.stringify(request))
  try {
    const [response] = (await once(call, 'response')) as [IncomingMessage]
    yield* readSse(response.setEncoding('utf8'), response.statusCode ?? 0)
  } finally {
    call.destroy()
  }
}

/** Server-sent events over HTTP/2. */
async function* openSseHttp2(
  url: string,
  chainId: number,
  request: QuoteStreamRequest,
  signal?: AbortSignal,
): AsyncGenerator<QuoteMessage> {
  const session = connectHttp2(url).on('error', () => {})
  const stream = session.request({
    ':method': 'POST',
    ':path': `/v1/${chainId}/quote/stream`,
    'content-type': 'application/json',
  })
  signal?.addEventListener('abort', () => stream.close())
  try {
    stream.on('error', () => {}).end(JSON.stringify(request))
    const [headers] = await once(stream, 'response')
    yield* readSse(stream.setEncoding('utf8'), headers[':status'])
  } finally {
    session.destroy()
  }
}

async function* readSse(body: AsyncIterable<string>, status: number): AsyncGenerator<QuoteMessage> {
  let text = ''
  for await (const chunk of body) {
    text += chunk
    if (status !== 200) continue
    const blocks = text.split('\n\n')
    text = blocks.pop() ?? ''
    for (const block of blocks) {
      const [, type, data = ''] = /^event: (\w+)\ndata: (.*)$/.exec(block) ?? []
      if (type === undefined && block !== ':') throw new Error(`not an event: ${block}`)
      if (type === 'error') throw toSseError(data, status)
      if (type !== undefined) yield { type: type as 'quote', ...JSON.parse(data) }
    }
  }
  if (status !== 200) throw toSseError(text, status)
}

function toSseError(text: string, status: number): QuoteStreamError {
  const { code, details = [], quoteId } = JSON.parse(text)
  return new QuoteStreamError(
    code,
    status,
    details.map(({ field }: { field: string }) => field),
    quoteId,
  )
}

function openRpc(transportTo: (baseUrl: string) => Transport): QuoteTransport['open'] {
  return async function* (url, chainId, request, signal) {
    const { orderType, depositMode, originChainId, destinationChainId, verify, ...rest } = request
    const init = {
      ...rest,
      chainId: BigInt(chainId),
      originChainId: BigInt(originChainId),
      destinationChainId: BigInt(destinationChainId),
      orderType: OrderType[orderType as 'EXACT_INPUT'],
      depositMode: DepositMode[depositMode as 'CONTRACT'],
      ...(verify === undefined ? {} : { verify: VerifyMode[verify.toUpperCase() as 'BEST'] }),
    }
    const leaving = new AbortController()
    signal?.addEventListener('abort', () => leaving.abort())
    const client = createClient(QuoteService, transportTo(url))
    try {
      for await (const { message } of client.streamQuotes(init, { signal: leaving.signal })) {
        if (message.case === 'heartbeat' || message.case === undefined) continue
        yield { type: message.case, ...plain(message.value) }
      }
    } catch (thrown) {
      const error = ConnectError.from(thrown)
      const info = error.findDetails(ErrorInfoSchema)[0]
      const fields = error.findDetails(BadRequestSchema)[0]?.fieldViolations.map(({ field }) => field) ?? []
      throw new QuoteStreamError(info?.reason, Code[error.code] ?? '', fields, info?.metadata.quoteId)
    } finally {
      leaving.abort()
    }
  }
}

/** A message of generated code as plain values, integers as numbers. Calls that were not asked for are absent, as over REST. */
export function plain(message: object) {
  return JSON.parse(
    JSON.stringify(message, (key, value) => {
      if (key === '$typeName' || (key === 'calls' && value.length === 0)) return undefined
      return typeof value === 'bigint' ? Number(value) : value
    }),
  )
}

export const quoteTransports: readonly QuoteTransport[] = [
  { name: 'server-sent events over HTTP/1.1', protocol: 'sse', open: openSse },
  { name: 'server-sent events over HTTP/2', protocol: 'sse', open: openSseHttp2 },
  { name: 'gRPC', protocol: 'grpc', open: openRpc((baseUrl) => createGrpcTransport({ baseUrl })) },
  {
    name: 'gRPC-Web',
    protocol: 'grpc-web',
    open: openRpc((baseUrl) => createGrpcWebTransport({ baseUrl, httpVersion: '1.1' })),
  },
  {
    name: 'Connect over HTTP/1.1',
    protocol: 'connect',
    open: openRpc((baseUrl) =>
      createConnectTransport({ baseUrl, httpVersion: '1.1', useBinaryFormat: false }),
    ),
  },
  {
    name: 'Connect over HTTP/2',
    protocol: 'connect',
    open: openRpc((baseUrl) => createConnectTransport({ baseUrl, httpVersion: '2' })),
  },
]
