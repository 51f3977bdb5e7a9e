import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { fromJson, type JsonValue, type Message, toBinary } from '@bufbuild/protobuf'
import { anyPack, anyUnpack } from '@bufbuild/protobuf/wkt'
import { parse } from 'yaml'
import { MAX_BODY_KIB } from '../../../packages/protocol/src/field-rules.js'
import {
  type CaseTemplate,
  CODECS,
  COMPRESSIONS,
  type CodecNumber,
  type CompressionNumber,
  type HttpVersion,
  PROTOCOLS,
  type ProtocolNumber,
  registry,
  type Suite,
  SuiteSchema,
} from './schema.js'

/** A case of a suite in one combination of protocol, HTTP version, codec and compression. */
export interface ConformanceCase extends CaseTemplate {
  /** As the list of exceptions names it, such as `Basic/gRPC/HTTP2/proto/gzip/unary/success`. */
  readonly name: string
  readonly suite: Suite
  readonly protocol: ProtocolNumber
  readonly http: HttpVersion
  readonly codec: CodecNumber
  readonly compression: CompressionNumber
}

const MAX_MESSAGE_BYTES = MAX_BODY_KIB * 1024
const MODE_CLIENT = 'TEST_MODE_CLIENT'
const ONE_MESSAGE_TYPE = 'test case has no request message'

/** Reads the suites of a folder that test servers. */
export function readSuites(folder: string): Suite[] {
  const files = readdirSync(folder).filter((file) => file.endsWith('.yaml'))
  return files.sort().flatMap((file) => parseSuite(readFileSync(join(folder, file), 'utf8')) ?? [])
}

/** @returns undefined for a suite that tests clients */
export function parseSuite(yaml: string): Suite | undefined {
  const json: JsonValue & { mode?: string } = parse(yaml)
  if (json.mode === MODE_CLIENT) return undefined
  return fromJson(SuiteSchema, json, { registry })
}

/** The cases of a suite in each combination that the server has and the suite names. */
export function expandSuite(suite: Suite): ConformanceCase[] {
  const pick = <N extends number>(known: readonly N[], relevant: readonly number[]) =>
    known.filter((value) => relevant.length === 0 || relevant.includes(value))
  const templates = suite.testCases.map(withPadding)
  return pick<ProtocolNumber>([1, 2, 3], suite.relevantProtocols).flatMap((protocol) =>
    pick<HttpVersion>([1, 2], suite.relevantHttpVersions).flatMap((http) =>
      pick<CodecNumber>([1, 2], suite.relevantCodecs).flatMap((codec) =>
        pick<CompressionNumber>([1, 2, 3], suite.relevantCompressions).flatMap((compression) =>
          templates.map((template) => {
            const parts = [PROTOCOLS[protocol], `HTTP${http}`, CODECS[codec], COMPRESSIONS[compression]]
            const name = [suite.name, ...parts, template.request.testName].join('/')
            return { ...template, name, suite, protocol, http, codec, compression }
          }),
        ),
      ),
    ),
  )
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
