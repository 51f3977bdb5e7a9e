import { create, type DescMessage, type MessageShape, toBinary, toJsonString } from '@bufbuild/protobuf'
import { encodeEnvelope } from '@connectrpc/connect/protocol'
import { StreamEventsRequestSchema } from '../../../gen/aggregator/v1/event_pb.js'
import { DepositMode, GetQuoteRequestSchema, OrderType } from '../../../gen/aggregator/v1/quote_pb.js'
import { ServerReflectionRequestSchema } from '../../../gen/grpc/reflection/v1/reflection_pb.js'
import { HealthCheckRequestSchema } from '../../../gen/health/v1/health_pb.js'
import type { TestChain } from '../chain/chain.js'
import { quoteRequest } from '../solvers/quote-request.js'
import { FLAG, FRAME, frame, headersFrame, PREFACE, settingsFrame } from './http2-frames.js'

/** What a whole request leads to. */
export type Outcome =
  /** A request to a slow solver. */
  | 'pending'
  /** A short response, after which the connection is idle or closed. */
  | 'answered'
  /** A response with more bytes than a client takes that stops reading. */
  | 'answering'
  /** A stream with its first message. */
  | 'streaming'
  /** Any of them: the path does not have what the request asks for. */
  | 'any'

/** One way to use the service's port. */
export interface ConnectionKind {
  readonly name: string
  readonly protocol: 'HTTP/1.1' | 'HTTP/2' | 'WebSocket'
  readonly outcome: Outcome
  /** The bytes of a request, in parts. */
  request(options: RequestOptions): RequestParts
}

export interface RequestOptions {
  readonly chain: TestChain
  /** For a quote: tells requests to solvers apart. */
  readonly amount: string
  /** How many bytes of a response the client takes at first. HTTP/2 only. */
  readonly window: number
}

export interface RequestParts {
  /** Before HTTP/2's first request. */
  readonly preface: Buffer
  readonly headers: Buffer
  readonly body: Buffer
}

interface Call {
  readonly verb?: 'GET' | 'POST'
  readonly path: string | ((chain: TestChain) => string)
  readonly headers?: Record<string, string>
  readonly body?: (chain: TestChain, amount: string) => Uint8Array | string
  /** More messages may follow. */
  readonly isOpenEnded?: boolean
}

const UPGRADE = {
  connection: 'upgrade',
  upgrade: 'websocket',
  'sec-websocket-version': '13',
  'sec-websocket-key': 'dGhlIHNhbXBsZSBub25jZQ==',
}
const EVENTS = '/aggregator.v1.EventService/StreamEvents'
const QUOTE = '/aggregator.v1.QuoteService/GetQuote'
const LARGE_ANSWER = { path: '/docs/swagger-ui-bundle.js' }
const ORDER = { path: ({ chainId }: TestChain) => `/v1/${chainId}/order/0x${'ab'.repeat(32)}` }
const SERVER_SENT_EVENTS = { path: '/v1/events' }
const METRICS = { path: '/metrics' }

const restQuote: Call = {
  verb: 'POST',
  path: ({ chainId }) => `/v1/${chainId}/quote`,
  headers: { 'content-type': 'application/json' },
  body: (chain, amount) => JSON.stringify({ ...quoteRequest(chain), amount }),
}

const grpcHeaders = { 'content-type': 'application/grpc', te: 'trailers' }
const webHeaders = { 'content-type': 'application/grpc-web+proto' }
const connectStreamHeaders = { 'content-type': 'application/connect+proto', 'connect-protocol-version': '1' }

function rpc(
  path: string,
  headers: Record<string, string>,
  body: Call['body'] = () => envelope(StreamEventsRequestSchema),
): Call {
  return { verb: 'POST', path, headers, body }
}

const envelopedQuote = (chain: TestChain, amount: string) =>
  encodeEnvelope(0, toBinary(GetQuoteRequestSchema, quoteMessage(chain, amount)))
const connectQuote: Call = {
  verb: 'POST',
  path: QUOTE,
  headers: { 'content-type': 'application/json', 'connect-protocol-version': '1' },
  body: (chain, amount) => toJsonString(GetQuoteRequestSchema, quoteMessage(chain, amount)),
}
const reflection: Call = {
  ...rpc('/grpc.reflection.v1.ServerReflection/ServerReflectionInfo', grpcHeaders, () =>
    envelope(
      ServerReflectionRequestSchema,
      create(ServerReflectionRequestSchema, { messageRequest: { case: 'listServices', value: '*' } }),
    ),
  ),
  isOpenEnded: true,
}
const watch = rpc('/grpc.health.v1.Health/Watch', grpcHeaders, () => envelope(HealthCheckRequestSchema))

/** Every kind of connection that the port serves or must reject. */
export const connectionKinds: readonly ConnectionKind[] = [
  http1('HTTP/1.1, kept alive', 'answered', ORDER),
  http1('HTTP/1.1, not kept alive', 'answered', { ...ORDER, headers: { connection: 'close' } }),
  http1('a quote over HTTP/1.1', 'pending', restQuote),
  http1('a large response over HTTP/1.1', 'answering', LARGE_ANSWER),
  http1('server-sent events over HTTP/1.1', 'streaming', SERVER_SENT_EVENTS),
  http1('a Connect quote over HTTP/1.1', 'pending', connectQuote),
  http1('a Connect stream over HTTP/1.1', 'streaming', rpc(EVENTS, connectStreamHeaders)),
  http1('a gRPC-Web quote over HTTP/1.1', 'pending', rpc(QUOTE, webHeaders, envelopedQuote)),
  http1('a gRPC-Web stream over HTTP/1.1', 'streaming', rpc(EVENTS, webHeaders)),
  { ...http1('a WebSocket', 'streaming', { path: '/v1/ws', headers: UPGRADE }), protocol: 'WebSocket' },
  http1('an upgrade of /docs', 'any', { ...LARGE_ANSWER, headers: UPGRADE }),
  http1('an upgrade of /v1/events', 'any', { ...SERVER_SENT_EVENTS, headers: UPGRADE }),
  http1('an upgrade of /health', 'any', { path: '/health', headers: UPGRADE }),
  http1('an upgrade of a quote', 'any', { ...restQuote, headers: { ...restQuote.headers, ...UPGRADE } }),
  http2('an order over HTTP/2', 'answered', ORDER),
  http2('a quote over HTTP/2', 'pending', restQuote),
  http2('a large response over HTTP/2', 'answering', LARGE_ANSWER),
  http2('metrics over HTTP/2', 'answered', METRICS),
  http2('server-sent events over HTTP/2', 'streaming', SERVER_SENT_EVENTS),
  http2('a gRPC quote', 'pending', rpc(QUOTE, grpcHeaders, envelopedQuote)),
  http2('a gRPC stream', 'streaming', rpc(EVENTS, grpcHeaders)),
  http2('a gRPC health watch', 'streaming', watch),
  http2('gRPC reflection', 'streaming', reflection),
  http2('a gRPC-Web stream over HTTP/2', 'streaming', rpc(EVENTS, webHeaders)),
  http2('a Connect quote over HTTP/2', 'pending', connectQuote),
  http2('a Connect stream over HTTP/2', 'streaming', rpc(EVENTS, connectStreamHeaders)),
]

function http1(name: string, outcome: Outcome, call: Call): ConnectionKind {
  return {
    name,
    protocol: 'HTTP/1.1',
    outcome,
    request({ chain, amount }) {
      const { verb, path, headers, body } = resolve(call, chain, amount)
      const length = call.body === undefined ? {} : { 'content-length': body.length }
      const fields = Object.entries({ host: 'a', ...headers, ...length }).map(
        ([key, value]) => `${key}: ${value}`,
      )
      const head = [`${verb} ${path} HTTP/1.1`, ...fields, '', ''].join('\r\n')
      return { preface: Buffer.alloc(0), headers: Buffer.from(head), body }
    },
  }
}

function http2(name: string, outcome: Outcome, call: Call): ConnectionKind {
  const stream = 1
  return {
    name,
    protocol: 'HTTP/2',
    outcome,
    request({ chain, amount, window }) {
      const { verb, path, headers, body } = resolve(call, chain, amount)
      const pseudo = { ':method': verb, ':scheme': 'http', ':path': path, ':authority': 'a' }
      const hasBody = call.body !== undefined
      const endStream = call.isOpenEnded ? 0 : FLAG.endStream
      return {
        preface: Buffer.concat([PREFACE, settingsFrame(window)]),
        headers: headersFrame(stream, { ...pseudo, ...headers }, !hasBody),
        body: hasBody ? frame(FRAME.data, endStream, stream, body) : body,
      }
    },
  }
}

function resolve({ verb = 'GET', path, headers = {}, body }: Call, chain: TestChain, amount: string) {
  return {
    verb,
    path: typeof path === 'string' ? path : path(chain),
    headers,
    body: Buffer.from(body?.(chain, amount) ?? ''),
  }
}

function envelope<Desc extends DescMessage>(schema: Desc, message?: MessageShape<Desc>): Uint8Array {
  return encodeEnvelope(0, message === undefined ? new Uint8Array() : toBinary(schema, message))
}

function quoteMessage(chain: TestChain, amount: string) {
  const { inputToken, outputToken, userAddress } = quoteRequest(chain)
  const chainId = BigInt(chain.chainId)
  return create(GetQuoteRequestSchema, {
    chainId,
    originChainId: chainId,
    destinationChainId: chainId,
    inputToken,
    outputToken,
    userAddress,
    amount,
    orderType: OrderType.EXACT_INPUT,
    depositMode: DepositMode.CONTRACT,
  })
}
