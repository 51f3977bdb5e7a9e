import { describe, expect, test } from 'vitest'
import type { Exceptions } from './exceptions.js'
import { runConformance } from './run.js'
import { parseSuite } from './suites.js'

const NONE: Exceptions = { notApplicable: [], failing: [] }

/** A suite of one unary case in one combination. */
function suiteOf({ name = 'success', code = '', expected = '' }): string {
  const response = code === '' ? 'responseData: "b2s="' : `error: { code: ${code}, message: "no" }`
  return `
name: Own
relevantProtocols: [PROTOCOL_GRPC]
relevantHttpVersions: [HTTP_VERSION_2]
relevantCodecs: [CODEC_JSON]
relevantCompressions: [COMPRESSION_IDENTITY]
testCases:
- request:
    testName: unary/${name}
    streamType: STREAM_TYPE_UNARY
    requestHeaders:
    - { name: X-Own, value: ["one", "two"] }
    requestMessages:
    - "@type": type.googleapis.com/connectrpc.conformance.v1.UnaryRequest
      responseDefinition:
        ${response}
        responseTrailers:
        - { name: x-trailer, value: ["a", "b"] }
${expected}`
}

async function runSuite(yaml: string, exceptions: Exceptions = NONE) {
  const suite = parseSuite(yaml)
  if (suite === undefined) throw new Error('The suite is for clients.')
  const { results, surprises } = await runConformance([suite], exceptions)
  return { kinds: results.map(({ outcome }) => outcome.kind), surprises }
}

const failing = (cases: string): Exceptions => ({ ...NONE, failing: [{ cases, reason: 'a reason' }] })
const WRONG = '  expectedResponse:\n    error: { code: CODE_ABORTED }\n'

describe('the conformance run', () => {
  test('passes a case whose answer and error follow from its request', async () => {
    expect(await runSuite(suiteOf({}))).toEqual({ kinds: ['passed'], surprises: [] })
    expect(await runSuite(suiteOf({ code: 'CODE_DATA_LOSS' }))).toEqual({ kinds: ['passed'], surprises: [] })
  })

  test('reports a case that fails with each difference', async () => {
    const { kinds, surprises } = await runSuite(suiteOf({ code: 'CODE_DATA_LOSS', expected: WRONG }))
    expect(kinds).toEqual(['failed'])
    expect(surprises).toEqual([
      'Own/gRPC/HTTP2/JSON/identity/unary/success fails: the code of the error is DataLoss, not Aborted; ' +
        'the number of details is 1, not 0.',
    ])
  })

  test('accepts a failure that is listed, and reports a listed case that passes or is absent', async () => {
    const wrong = suiteOf({ expected: WRONG })
    expect(await runSuite(wrong, failing('Own/*/unary/success'))).toEqual({
      kinds: ['failed'],
      surprises: [],
    })
    expect((await runSuite(suiteOf({}), failing('Own/*'))).surprises).toEqual([
      'Own/gRPC/HTTP2/JSON/identity/unary/success is listed as failing, but it is passed.',
    ])
    expect((await runSuite(suiteOf({}), failing('Other/*'))).surprises).toEqual([
      'Other/* is listed, but no case has this name.',
    ])
  })

  test('leaves out a case that does not apply', async () => {
    const grpc = { protocol: 'gRPC', codec: 'JSON', streams: ['unary'] as const, reason: 'a reason' }
    const { kinds } = await runSuite(suiteOf({ expected: WRONG }), { ...NONE, notApplicable: [grpc] })
    expect(kinds).toEqual(['not applicable'])
  })

  test('has no suites for clients', () => {
    expect(parseSuite('name: Clients\nmode: TEST_MODE_CLIENT\ntestCases: []\n')).toBeUndefined()
  })
})
