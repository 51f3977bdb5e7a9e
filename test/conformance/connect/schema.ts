import { execFileSync } from 'node:child_process'
import { createFileRegistry, type DescService, fromBinary, type Message } from '@bufbuild/protobuf'
import type { GenMessage } from '@bufbuild/protobuf/codegenv2'
import { type Any, FileDescriptorSetSchema } from '@bufbuild/protobuf/wkt'

export interface Header {
  name: string
  value: string[]
}

export interface ErrorDefinition {
  code: number
  message?: string
  details: Any[]
}

interface Definition {
  responseHeaders: Header[]
  responseTrailers: Header[]
  responseDelayMs: number
}

export interface UnaryDefinition extends Definition {
  response:
    | { case: 'responseData'; value: Uint8Array }
    | { case: 'error'; value: ErrorDefinition }
    | { case: undefined; value?: undefined }
}

export interface StreamDefinition extends Definition {
  responseData: Uint8Array[]
  error?: ErrorDefinition
}

/** A request of a method with one response, or with a stream of them. */
export interface RequestOf<D> extends Message {
  responseDefinition?: D
  fullDuplex?: boolean
  requestData: Uint8Array
}

export interface RequestInfo extends Message {
  requestHeaders: Header[]
  timeoutMs?: bigint
  requests: Any[]
}

export interface Payload {
  data: Uint8Array
  requestInfo?: RequestInfo
}

interface MessageContents {
  data:
    | { case: 'binary'; value: Uint8Array }
    | { case: 'text'; value: string }
    | { case: 'binaryMessage'; value: Any }
    | { case: undefined; value?: undefined }
}

export interface RawRequest {
  verb: string
  uri: string
  headers: Header[]
  body:
    | { case: 'unary'; value: MessageContents }
    | { case: 'stream'; value: { items: { flags: number; length?: number; payload?: MessageContents }[] } }
    | { case: undefined; value?: undefined }
}

export interface ClientRequest {
  testName: string
  method: string
  streamType: number
  useGetHttpMethod: boolean
  requestHeaders: Header[]
  requestMessages: Any[]
  timeoutMs?: number
  requestDelayMs: number
  rawRequest?: RawRequest
}

/** What a client must see. */
export interface ClientResult {
  responseHeaders: Header[]
  payloads: Payload[]
  error?: ErrorDefinition
  responseTrailers: Header[]
  httpStatusCode?: number
}

export interface CaseTemplate {
  request: ClientRequest
  expandRequests: { sizeRelativeToLimit?: number }[]
  expectedResponse?: ClientResult
  otherAllowedErrorCodes: number[]
}

export interface Suite extends Message {
  name: string
  testCases: CaseTemplate[]
  relevantProtocols: number[]
  relevantHttpVersions: number[]
  relevantCodecs: number[]
  relevantCompressions: number[]
  reliesOnTlsClientCerts: boolean
}

export const STREAM_TYPE = {
  unary: 1,
  clientStream: 2,
  serverStream: 3,
  halfDuplex: 4,
  fullDuplex: 5,
} as const
export const PROTOCOLS = { 1: 'Connect', 2: 'gRPC', 3: 'gRPC-Web' } as const
export const CODECS = { 1: 'proto', 2: 'JSON' } as const

export type ProtocolNumber = keyof typeof PROTOCOLS
export type CodecNumber = keyof typeof CODECS
export type HttpVersion = 1 | 2

const PACKAGE = 'connectrpc.conformance.v1'
const image = execFileSync('node_modules/.bin/buf', [
  'build',
  'test/conformance',
  '--output',
  '-#format=binpb',
])

/** All types of conformance.proto, which is compiled at each start. */
export const registry = createFileRegistry(fromBinary(FileDescriptorSetSchema, image))

function messageOf<T extends Message>(name: string): GenMessage<T> {
  const desc = registry.getMessage(`${PACKAGE}.${name}`)
  if (desc === undefined) throw new Error(`conformance.proto has no ${name}`)
  return desc as GenMessage<T>
}

function serviceOf(name: string): DescService {
  const desc = registry.getService(`${PACKAGE}.${name}`)
  if (desc === undefined) throw new Error(`conformance.proto has no ${name}`)
  return desc
}

export const ConformanceService = serviceOf('ConformanceService')
export const SuiteSchema = messageOf<Suite>('TestSuite')
export const RequestInfoSchema = messageOf<RequestInfo>('ConformancePayload.RequestInfo')
