import { create } from '@bufbuild/protobuf'
import { anyPack, anyUnpack } from '@bufbuild/protobuf/wkt'
import {
  type ClientRequest,
  type ClientResult,
  type ErrorDefinition,
  type RequestInfo,
  RequestInfoSchema,
  type RequestOf,
  registry,
  STREAM_TYPE,
  type StreamDefinition,
  type UnaryDefinition,
} from './schema.js'
import type { ConformanceCase } from './suites.js'

const NOTHING: ClientResult = { responseHeaders: [], payloads: [], responseTrailers: [] }

/**
 * What a client must see of a case: what the case states, else what follows from its first request. The server sends what the
 * request defines, and says in the first message, or in the details of an error without one, what it saw of the request.
 */
export function expectedOf({ request, expectedResponse }: ConformanceCase): ClientResult {
  if (expectedResponse !== undefined) return expectedResponse
  const [first] = request.requestMessages
  const message = first && anyUnpack(first, registry)
  const { streamType } = request
  return streamType === STREAM_TYPE.unary || streamType === STREAM_TYPE.clientStream
    ? expectedOnce(request, (message as RequestOf<UnaryDefinition> | undefined)?.responseDefinition)
    : expectedStream(request, (message as RequestOf<StreamDefinition> | undefined)?.responseDefinition)
}

function expectedOnce(request: ClientRequest, definition: UnaryDefinition | undefined): ClientResult {
  const requestInfo = infoOf(request)
  if (definition === undefined) return { ...NOTHING, payloads: [{ data: new Uint8Array(), requestInfo }] }
  const { responseHeaders, responseTrailers, response } = definition
  const metadata = { responseHeaders, responseTrailers, payloads: [] }
  if (response.case === 'error') return { ...metadata, error: withInfo(response.value, requestInfo) }
  return { ...metadata, payloads: [{ data: response.value ?? new Uint8Array(), requestInfo }] }
}

function expectedStream(request: ClientRequest, definition: StreamDefinition | undefined): ClientResult {
  if (definition === undefined) return NOTHING
  const { responseHeaders, responseTrailers, responseData, error } = definition
  const isFullDuplex = request.streamType === STREAM_TYPE.fullDuplex
  const requestsAt = (index: number) => request.requestMessages.slice(index, index + 1)
  const payloads = responseData.map((data, index) => {
    if (index === 0) {
      const requests = isFullDuplex ? requestsAt(0) : request.requestMessages
      return { data, requestInfo: infoOf(request, requests) }
    }
    if (!isFullDuplex) return { data }
    return { data, requestInfo: create(RequestInfoSchema, { requests: requestsAt(index) }) }
  })
  const result = { responseHeaders, responseTrailers, payloads }
  if (error === undefined) return result
  return { ...result, error: payloads.length === 0 ? withInfo(error, infoOf(request)) : error }
}

function infoOf({ requestHeaders, requestMessages, timeoutMs }: ClientRequest, requests = requestMessages) {
  return create(RequestInfoSchema, {
    requestHeaders,
    requests,
    ...(timeoutMs === undefined ? {} : { timeoutMs: BigInt(timeoutMs) }),
  })
}

function withInfo(error: ErrorDefinition, info: RequestInfo): ErrorDefinition {
  return { ...error, details: [...error.details, anyPack(RequestInfoSchema, info)] }
}
