import { Buffer } from 'node:buffer'
import { equals, fromBinary } from '@bufbuild/protobuf'
import { type Any, anyUnpack } from '@bufbuild/protobuf/wkt'
import { Code, type ConnectError } from '@connectrpc/connect'
import type { Observed } from './client.js'
import type { ClientResult, ErrorDefinition, Header, Payload, RequestInfo } from './schema.js'
import { RequestInfoSchema, registry } from './schema.js'

/** How much less than the caller's deadline the server may see. */
const TIMEOUT_GRACE_MS = 500

/**
 * Compares what a client saw with what it must see. How many messages the client could not send says nothing of the server.
 * @returns a sentence for each difference
 */
export function differences(
  expected: ClientResult,
  observed: Observed,
  otherCodes: readonly number[],
): string[] {
  return [
    ...metadataDifferences(expected, observed),
    ...payloadDifferences(expected.payloads, observed.payloads),
    ...errorDifferences(expected.error, observed.error, otherCodes),
    ...differs('the HTTP status', expected.httpStatusCode ?? observed.status, observed.status),
  ]
}

function differs(what: string, expected: unknown, actual: unknown): string[] {
  return expected === actual ? [] : [`${what} is ${String(actual)}, not ${String(expected)}`]
}

/** A response without a message may have its trailers in its headers: gRPC calls it "trailers-only". */
function metadataDifferences(expected: ClientResult, { headers, trailers }: Observed): string[] {
  const { responseHeaders, responseTrailers, payloads } = expected
  const found = [
    ...headerDifferences('header', responseHeaders, headers),
    ...headerDifferences('trailer', responseTrailers, trailers),
  ]
  if (payloads.length > 0 || found.length === 0) return found
  const all = [...responseHeaders, ...responseTrailers]
  const isInOne = [headers, trailers].some((place) => headerDifferences('', all, place).length === 0)
  return isInOne ? [] : found
}

function headerDifferences(kind: string, expected: readonly Header[], actual: Headers): string[] {
  return expected.flatMap(({ name, value }) => {
    const joined = actual.get(name)
    const values = joined === null ? [] : joined.split(/, ?/)
    return differs(`${kind} ${name.toLowerCase()}`, value.join('|'), values.join('|'))
  })
}

function payloadDifferences(expected: readonly Payload[], actual: readonly Payload[]): string[] {
  const found = differs('the number of messages', expected.length, actual.length)
  const compared = expected.flatMap((wanted, index) => {
    const got = actual[index]
    if (got === undefined) return []
    const hex = ({ data }: Payload) => Buffer.from(data).toString('hex')
    return [
      ...differs(`the data of message ${index}`, hex(wanted), hex(got)),
      ...infoDifferences(wanted.requestInfo, got.requestInfo, index === 0),
    ]
  })
  return [...found, ...compared]
}

/** Compares what the server saw of the request. Only the first message has headers and the deadline. */
function infoDifferences(
  expected: RequestInfo | undefined,
  actual: RequestInfo | undefined,
  isFirst: boolean,
): string[] {
  const wanted = expected?.requests ?? []
  const got = actual?.requests ?? []
  const found = differs('the number of requests that the server saw', wanted.length, got.length)
  for (const [index, any] of wanted.entries()) {
    const other = got[index]
    if (other !== undefined && !isSameMessage(any, other))
      found.push(`request ${index} reached the server changed`)
  }
  if (!isFirst) return found
  const seen = new Headers()
  for (const { name, value } of actual?.requestHeaders ?? [])
    for (const text of value) seen.append(name, text)
  found.push(...headerDifferences('request header', expected?.requestHeaders ?? [], seen))
  return [...found, ...timeoutDifferences(expected?.timeoutMs, actual?.timeoutMs)]
}

function timeoutDifferences(expected: bigint | undefined, actual: bigint | undefined): string[] {
  if (expected === undefined || actual === undefined)
    return differs('the deadline that the server saw', expected, actual)
  const isNear = actual <= expected && actual >= expected - BigInt(TIMEOUT_GRACE_MS)
  return isNear ? [] : [`the deadline that the server saw is ${actual} ms, not about ${expected} ms`]
}

function isSameMessage(one: Any, other: Any): boolean {
  const [a, b] = [anyUnpack(one, registry), anyUnpack(other, registry)]
  const desc = a && registry.getMessage(a.$typeName)
  return desc !== undefined && b?.$typeName === a?.$typeName && a && b ? equals(desc, a, b) : false
}

function errorDifferences(
  expected: ErrorDefinition | undefined,
  actual: ConnectError | undefined,
  otherCodes: readonly number[],
): string[] {
  if (expected === undefined) return actual === undefined ? [] : [`there is an error: ${actual.message}`]
  if (actual === undefined) return [`there is no error ${Code[expected.code]}`]
  const { message, details } = expected
  const code = otherCodes.includes(actual.code) ? actual.code : expected.code
  const found = [
    ...differs('the code of the error', Code[code], Code[actual.code]),
    ...(message === undefined ? [] : differs('the text of the error', message, actual.rawMessage)),
    ...differs('the number of details', details.length, actual.details.length),
  ]
  for (const [index, wanted] of details.entries()) {
    const got = actual.details[index]
    if (got === undefined || !('type' in got)) continue
    const type = wanted.typeUrl.split('/').pop()
    found.push(...differs(`the type of detail ${index}`, type, got.type))
    if (type === RequestInfoSchema.typeName && got.type === type)
      found.push(...infoDifferences(readInfo(wanted.value), readInfo(got.value), true))
    else found.push(...differs(`detail ${index}`, String(wanted.value), String(got.value)))
  }
  return found
}

function readInfo(bytes: Uint8Array): RequestInfo {
  return fromBinary(RequestInfoSchema, bytes)
}
