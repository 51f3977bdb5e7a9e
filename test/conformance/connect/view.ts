import { Buffer } from 'node:buffer'
import { fromBinary, toJson } from '@bufbuild/protobuf'
import { type Any, AnySchema } from '@bufbuild/protobuf/wkt'
import type { ClientResult, Header, RequestInfo } from './schema.js'
import { RequestInfoSchema, registry } from './schema.js'

/**
 * What of a result is compared. How many messages the client could not send says nothing of the server.
 * @param near turns a caller's deadline in milliseconds into what the server may see of it
 */
export function viewOf(
  { responseHeaders, responseTrailers, payloads, error, httpStatusCode }: ClientResult,
  near = (timeoutMs: number) => timeoutMs,
) {
  const [headers, trailers] = [valuesOf(responseHeaders), valuesOf(responseTrailers)]
  const infoView = ({ requestHeaders, timeoutMs, requests }: Partial<RequestInfo> = {}) => ({
    requestHeaders: valuesOf(requestHeaders ?? []),
    timeoutMs: timeoutMs === undefined ? undefined : near(Number(timeoutMs)),
    requests: (requests ?? []).map((any) => toJson(AnySchema, any, { registry })),
  })
  const detailView = ({ typeUrl, value }: Any) => {
    const type = typeUrl.split('/').pop()
    return type === RequestInfoSchema.typeName
      ? { type, ...infoView(fromBinary(RequestInfoSchema, value)) }
      : { type, value: toHex(value) }
  }
  return {
    // Without a message, the trailers may be among the headers: gRPC calls it "trailers-only".
    ...(payloads.length > 0 ? { headers, trailers } : { metadata: { ...headers, ...trailers } }),
    messages: payloads.map(({ data, requestInfo }) => ({ data: toHex(data), ...infoView(requestInfo) })),
    error: error && {
      code: error.code,
      ...(error.message === undefined ? {} : { message: error.message }),
      details: error.details.map(detailView),
    },
    ...(httpStatusCode === undefined ? {} : { httpStatusCode }),
  }
}

/** Values by name, however they were put together. */
function valuesOf(headers: readonly Header[]): Record<string, string> {
  const all = headers.map(({ name, value }) => [name.toLowerCase(), value.join().replaceAll(', ', ',')])
  return Object.fromEntries(all)
}

function toHex(bytes: Uint8Array): string {
  return Buffer.from(bytes).toString('hex')
}
