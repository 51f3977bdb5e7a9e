import {
  create,
  type DescMessage,
  type DescMethod,
  type DescMethodStreaming,
  type DescMethodUnary,
  type Message,
} from '@bufbuild/protobuf'
import { AnySchema, anyUnpack } from '@bufbuild/protobuf/wkt'
import { Code, ConnectError, type Transport } from '@connectrpc/connect'
import type { CommonTransportOptions, UniversalClientFn } from '@connectrpc/connect/protocol'
import { createTransport as createConnectTransport } from '@connectrpc/connect/protocol-connect'
import { createTransport as createGrpcTransport } from '@connectrpc/connect/protocol-grpc'
import { createTransport as createGrpcWebTransport } from '@connectrpc/connect/protocol-grpc-web'
import { createNodeHttpClient } from '@connectrpc/connect-node'
import { replaceRequest } from './raw-request.js'
import {
  type ClientResult,
  ConformanceService,
  type ErrorDefinition,
  type Header,
  type Payload,
  registry,
  STREAM_TYPE,
} from './schema.js'
import type { ConformanceCase } from './suites.js'

/** Afterwards a case counts as unanswered. */
const HANG_MS = 15_000
const MAX_BYTES = 0x7fff_ffff
const TRANSPORTS = { 1: createConnectTransport, 2: createGrpcTransport, 3: createGrpcWebTransport }
const METHODS: Readonly<Record<number, string>> = {
  [STREAM_TYPE.unary]: 'Unary',
  [STREAM_TYPE.clientStream]: 'ClientStream',
  [STREAM_TYPE.serverStream]: 'ServerStream',
  [STREAM_TYPE.halfDuplex]: 'BidiStream',
  [STREAM_TYPE.fullDuplex]: 'BidiStream',
}

/** Plays a case with Connect's own client, on a connection of its own. A raw request replaces the client's bytes. */
export async function play(testCase: ConformanceCase, url: string): Promise<ClientResult> {
  const { request, http } = testCase
  let status = 0
  const send = createNodeHttpClient(
    http === 1 ? { httpVersion: '1.1', nodeOptions: { agent: false } } : { httpVersion: '2' },
  )
  const { rawRequest } = request
  const httpClient: UniversalClientFn = async (ofClient) => {
    const response = await send(
      rawRequest === undefined ? ofClient : replaceRequest(ofClient, rawRequest, url),
    )
    status = response.status
    return response
  }
  const transport = TRANSPORTS[testCase.protocol](transportOptions(testCase, url, httpClient))
  const observed = await call(transport, testCase, AbortSignal.timeout(HANG_MS))
  return { httpStatusCode: status, ...observed }
}

function transportOptions(
  { codec, request }: ConformanceCase,
  baseUrl: string,
  httpClient: UniversalClientFn,
): CommonTransportOptions {
  return {
    baseUrl,
    httpClient,
    useBinaryFormat: codec === 1,
    useHttpGet: request.useGetHttpMethod,
    interceptors: [],
    acceptCompression: [],
    sendCompression: null,
    compressMinBytes: 0,
    readMaxBytes: MAX_BYTES,
    writeMaxBytes: MAX_BYTES,
    jsonOptions: { registry },
    binaryOptions: {},
  }
}

async function call(
  transport: Transport,
  testCase: ConformanceCase,
  signal: AbortSignal,
): Promise<ClientResult> {
  const method = methodOf(testCase)
  const headers = headersOf(testCase)
  const payloads: Payload[] = []
  const seen: { headers?: Headers; trailers?: Headers } = {}
  const take = (message: Message) => {
    const { payload } = message as Message & { payload?: Payload }
    payloads.push(payload ?? { data: new Uint8Array() })
  }
  try {
    if (method.methodKind === 'unary') {
      const [message] = messagesOf(testCase)
      const unary = method as DescMethodUnary<DescMessage, DescMessage>
      const response = await transport.unary(unary, signal, undefined, headers, message ?? {})
      seen.headers = response.header
      seen.trailers = response.trailer
      take(response.message)
    } else {
      const turns = createTurns(testCase)
      const streaming = method as DescMethodStreaming<DescMessage, DescMessage>
      const response = await transport.stream(streaming, signal, undefined, headers, turns.requests())
      seen.headers = response.header
      for await (const message of response.message) {
        take(message)
        turns.responded()
      }
      seen.trailers = response.trailer
    }
    return { payloads, ...toLists(seen) }
  } catch (thrown) {
    const error = ConnectError.from(thrown)
    if (signal.aborted && error.code === Code.Canceled) throw new Error(`no answer within ${HANG_MS} ms`)
    // The client gives both kinds of metadata of an error as one.
    const { metadata } = error
    return {
      payloads,
      ...toLists({ headers: metadata, trailers: metadata, ...seen }),
      error: toDefinition(error),
    }
  }
}

function toLists({ headers, trailers }: { headers?: Headers; trailers?: Headers }) {
  const toList = (all = new Headers()): Header[] =>
    [...all].map(([name, value]) => ({ name, value: [value] }))
  return { responseHeaders: toList(headers), responseTrailers: toList(trailers) }
}

function toDefinition({ code, rawMessage, details }: ConnectError): ErrorDefinition {
  const received = details.flatMap((detail) => ('value' in detail && 'type' in detail ? [detail] : []))
  const toAny = ({ type, value }: (typeof received)[number]) =>
    create(AnySchema, { typeUrl: String(type), value: value as Uint8Array })
  return { code, message: rawMessage, details: received.map(toAny) }
}

function methodOf({ request }: ConformanceCase): DescMethod {
  const name = request.method || METHODS[request.streamType]
  const method = ConformanceService.methods.find((candidate) => candidate.name === name)
  if (method === undefined) throw new Error(`conformance.proto has no method for ${request.testName}`)
  return method
}

/** Only the header has the deadline, so that the server must end the call and not the client. */
function headersOf({ request, protocol }: ConformanceCase): Headers {
  const headers = new Headers()
  for (const { name, value } of request.requestHeaders) for (const text of value) headers.append(name, text)
  const { timeoutMs } = request
  if (timeoutMs === undefined) return headers
  if (protocol === 1) headers.set('connect-timeout-ms', String(timeoutMs))
  else headers.set('grpc-timeout', `${timeoutMs}m`)
  return headers
}

function messagesOf({ request }: ConformanceCase): Message[] {
  return request.requestMessages.map((any) => {
    const message = anyUnpack(any, registry)
    if (message === undefined) throw new Error(`conformance.proto has no ${any.typeUrl}`)
    return message
  })
}

/** Sends the messages of a stream: in full duplex each after the response to the one before. */
function createTurns(testCase: ConformanceCase) {
  const { streamType, requestDelayMs } = testCase.request
  const isFullDuplex = streamType === STREAM_TYPE.fullDuplex
  let release = () => {}

  async function* requests(): AsyncGenerator<Message> {
    for (const message of messagesOf(testCase)) {
      if (requestDelayMs > 0) await new Promise((resolve) => setTimeout(resolve, requestDelayMs))
      const response = new Promise<void>((resolve) => {
        release = resolve
      })
      yield message
      if (isFullDuplex) await response
    }
  }

  return { requests, responded: () => release() }
}
