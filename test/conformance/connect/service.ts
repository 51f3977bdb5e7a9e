import { create, type DescMethod, type Message, toBinary } from '@bufbuild/protobuf'
import { type Any, anyPack } from '@bufbuild/protobuf/wkt'
import { ConnectError, type HandlerContext, type Interceptor, type ServiceImpl } from '@connectrpc/connect'
import type { AddService } from '../../../src/rpc/router.js'
import {
  ConformanceService,
  type ErrorDefinition,
  type Header,
  type RequestInfo,
  RequestInfoSchema,
  type RequestOf,
  registry,
  type StreamDefinition,
  type UnaryDefinition,
} from './schema.js'

type UnaryRequest = RequestOf<UnaryDefinition>
type StreamRequest = RequestOf<StreamDefinition>

/**
 * Builds the service that each case asks for its response: a request says what the answer is, and the answer says what the
 * server saw of the request.
 * @param interceptors those of the server's own services
 */
export function createConformanceService(interceptors: readonly Interceptor[]): AddService {
  const implementation = { unary, idempotentUnary: unary, clientStream, serverStream, bidiStream }
  const options = { interceptors: [...interceptors], jsonOptions: { registry } }
  // The types of the methods are known at run time only.
  const service = implementation as unknown as ServiceImpl<typeof ConformanceService>
  return (router) => void router.service(ConformanceService, service, options)
}

function unary(request: UnaryRequest, context: HandlerContext) {
  return respondOnce(request.responseDefinition, [pack(context.method, request)], context)
}

async function clientStream(requests: AsyncIterable<UnaryRequest>, context: HandlerContext) {
  const packed: Any[] = []
  let definition: UnaryDefinition | undefined
  for await (const request of requests) {
    if (packed.length === 0) definition = request.responseDefinition
    packed.push(pack(context.method, request))
  }
  return respondOnce(definition, packed, context)
}

async function respondOnce(
  definition: UnaryDefinition | undefined,
  requests: Any[],
  context: HandlerContext,
): Promise<object> {
  const requestInfo = describeRequest(context, requests)
  if (definition === undefined) return { payload: { requestInfo } }
  setMetadata(definition, context)
  await wait(definition.responseDelayMs, context.signal)
  const { response } = definition
  if (response.case === 'error') throw toConnectError(response.value, [requestInfo])
  return { payload: { requestInfo, data: response.value ?? new Uint8Array() } }
}

async function* serverStream(request: StreamRequest, context: HandlerContext): AsyncGenerator<object> {
  yield* bidiStream([request], context)
}

async function* bidiStream(
  requests: AsyncIterable<StreamRequest> | Iterable<StreamRequest>,
  context: HandlerContext,
): AsyncGenerator<object> {
  let unanswered: Any[] = []
  let definition: StreamDefinition | undefined
  let isFullDuplex = false
  let sent = 0
  async function nextResponse({ responseData, responseDelayMs }: StreamDefinition): Promise<object> {
    await wait(responseDelayMs, context.signal)
    const data = responseData[sent]
    const requestInfo = sent === 0 ? describeRequest(context, unanswered) : { requests: unanswered }
    const hasInfo = sent === 0 || isFullDuplex
    sent++
    unanswered = []
    return { payload: hasInfo ? { data, requestInfo } : { data } }
  }

  let isFirst = true
  for await (const request of requests) {
    unanswered.push(pack(context.method, request))
    if (isFirst) {
      definition = request.responseDefinition
      isFullDuplex = request.fullDuplex ?? false
      if (definition !== undefined) setMetadata(definition, context)
    }
    isFirst = false
    if (!isFullDuplex) continue
    if (definition === undefined || sent >= definition.responseData.length) break
    yield await nextResponse(definition)
  }
  if (definition === undefined) return
  while (sent < definition.responseData.length) yield await nextResponse(definition)
  if (definition.error === undefined) return
  throw toConnectError(definition.error, sent === 0 ? [describeRequest(context, unanswered)] : [])
}

function pack({ input }: DescMethod, request: Message): Any {
  return anyPack(input, request)
}

function describeRequest(context: HandlerContext, requests: Any[]): RequestInfo {
  const requestHeaders = [...context.requestHeader].map(([name, value]) => ({ name, value: [value] }))
  const timeoutMs = context.timeoutMs()
  return create(RequestInfoSchema, {
    requestHeaders,
    requests,
    ...(timeoutMs === undefined ? {} : { timeoutMs: BigInt(Math.round(timeoutMs)) }),
  })
}

function setMetadata(
  { responseHeaders, responseTrailers }: UnaryDefinition | StreamDefinition,
  context: HandlerContext,
): void {
  append(responseHeaders, context.responseHeader)
  append(responseTrailers, context.responseTrailer)
}

function append(headers: readonly Header[], target: Headers): void {
  for (const { name, value } of headers) for (const text of value) target.append(name, text)
}

function toConnectError(
  { code, message = '', details }: ErrorDefinition,
  infos: RequestInfo[],
): ConnectError {
  const error = new ConnectError(message, code)
  error.details.push(
    ...infos.map((info) => ({ type: RequestInfoSchema.typeName, value: toBinary(RequestInfoSchema, info) })),
  )
  error.details.push(
    ...details.map(({ typeUrl, value }) => ({ type: typeUrl.split('/').pop() ?? '', value })),
  )
  return error
}

/** Waits, but no longer than the call: what its end throws is then the answer. */
function wait(delayMs: number, signal: AbortSignal): Promise<void> {
  signal.throwIfAborted()
  if (delayMs === 0) return Promise.resolve()
  return new Promise((resolve, reject) => {
    const timer = setTimeout(() => {
      signal.removeEventListener('abort', onAbort)
      resolve()
    }, delayMs)
    const onAbort = () => {
      clearTimeout(timer)
      reject(signal.reason)
    }
    signal.addEventListener('abort', onAbort, { once: true })
  })
}
