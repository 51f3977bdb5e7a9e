import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { fromJson, type JsonValue, type Message, toBinary } from '@bufbuild/protobuf'
import { anyPack, anyUnpack } from '@bufbuild/protobuf/wkt'
import { parse } from 'yaml'
import { MAX_BODY_KIB } from '../../../packages/protocol/src/field-rules.js'
import {
  type CaseTemplate,
  CODECS,
  type CodecNumber,
  type HttpVersion,
  PROTOCOLS,
  type ProtocolNumber,
  registry,
  STREAM_TYPE,
  type Suite,
  SuiteSchema,
} from './schema.js'

/** A case of a suite in one combination of protocol, HTTP version and codec. */
export interface ConformanceCase extends CaseTemplate {
  /** Such as `Basic/gRPC/HTTP2/proto/unary/success`. */
  readonly name: string
  readonly protocol: ProtocolNumber
  readonly http: HttpVersion
  readonly codec: CodecNumber
}

const MAX_MESSAGE_BYTES = MAX_BODY_KIB * 1024
const MODE_CLIENT = 'TEST_MODE_CLIENT'
/** Protocols and HTTP versions of this server. gRPC needs the trailers and streams of HTTP/2. */
const COMBINATIONS: readonly (readonly [ProtocolNumber, HttpVersion])[] = [
  [1, 1],
  [1, 2],
  [2, 2],
  [3, 1],
  [3, 2],
]
/** The service takes no compressed messages. */
const IDENTITY = 1
const ONE_MESSAGE_TYPE = 'test case has no request message'

/** Reads the cases of a folder that apply to this server. */
export function readCases(folder: string): ConformanceCase[] {
  const files = readdirSync(folder).filter((file) => file.endsWith('.yaml'))
  return files.sort().flatMap((file) => {
    const json: JsonValue & { mode?: string } = parse(readFileSync(join(folder, file), 'utf8'))
    if (json.mode === MODE_CLIENT) return []
    const suite = fromJson(SuiteSchema, json, { registry })
    return suite.reliesOnTlsClientCerts || !applies(suite.relevantCompressions, IDENTITY)
      ? []
      : casesOf(suite)
  })
}

/** The cases of a suite in each combination that the server has and the suite names. */
function casesOf({ name: suite, testCases, ...relevant }: Suite): ConformanceCase[] {
  const templates = testCases.map(withPadding)
  const combinations = COMBINATIONS.filter(
    ([protocol, http]) =>
      applies(relevant.relevantProtocols, protocol) && applies(relevant.relevantHttpVersions, http),
  )
  return combinations.flatMap(([protocol, http]) =>
    ([1, 2] as const)
      .filter((codec) => applies(relevant.relevantCodecs, codec))
      .flatMap((codec) =>
        templates
          // A method that streams both ways needs HTTP/2, and the service says so with status 505.
          .filter(({ request }) => http === 2 || request.streamType < STREAM_TYPE.halfDuplex)
          .map((template) => {
            const parts = [
              suite,
              PROTOCOLS[protocol],
              `HTTP${http}`,
              CODECS[codec],
              template.request.testName,
            ]
            return { ...template, name: parts.join('/'), protocol, http, codec }
          }),
      ),
  )
}

/** An empty list names all. */
function applies(relevant: readonly number[], value: number): boolean {
  return relevant.length === 0 || relevant.includes(value)
}

/** Fills messages with zeros up to the server's limit, where a case asks for it. */
function withPadding(template: CaseTemplate): CaseTemplate {
  const requestMessages = template.request.requestMessages.map((any, index) => {
    const { sizeRelativeToLimit } = template.expandRequests[index] ?? {}
    if (sizeRelativeToLimit === undefined) return any
    const desc = registry.getMessage(any.typeUrl.split('/').pop() ?? '')
    const message = anyUnpack(any, registry) as (Message & { requestData: Uint8Array }) | undefined
    if (desc === undefined || message === undefined) throw new Error(ONE_MESSAGE_TYPE)
    const wanted = MAX_MESSAGE_BYTES + sizeRelativeToLimit
    let size = toBinary(desc, message).length
    // The length of the padding is itself a field, so the second round corrects the first.
    for (let round = 0; size !== wanted && round < 3; round++) {
      const padded = new Uint8Array(message.requestData.length + wanted - size)
      padded.set(message.requestData.subarray(0, padded.length))
      message.requestData = padded
      size = toBinary(desc, message).length
    }
    if (size !== wanted) throw new Error(`${template.request.testName} cannot be padded to ${wanted} bytes.`)
    return anyPack(desc, message)
  })
  return { ...template, request: { ...template.request, requestMessages } }
}
