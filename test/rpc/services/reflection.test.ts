import { createFileRegistry, type DescService, fromBinary, toBinary } from '@bufbuild/protobuf'
import {
  type FileDescriptorProto,
  FileDescriptorProtoSchema,
  type FileDescriptorSet,
  FileDescriptorSetSchema,
} from '@bufbuild/protobuf/wkt'
import { Code } from '@connectrpc/connect'
import { describe, expect, it } from 'vitest'
import { EventService } from '../../../gen/aggregator/v1/event_pb.js'
import { QuoteService } from '../../../gen/aggregator/v1/quote_pb.js'
import { Health } from '../../../gen/health/v1/health_pb.js'
import { createResponder } from '../../../src/rpc/services/reflection.js'

type Answer = ReturnType<typeof createResponder>
const SERVED = [EventService, QuoteService, Health]
const answer: Answer = createResponder(SERVED)
const HTTP_FILE = 'google/api/http.proto'
const DESCRIPTOR_FILE = 'google/protobuf/descriptor.proto'

/** The files in the response to a query, in their order. */
function filesFor(...[query]: Parameters<Answer>): FileDescriptorProto[] {
  const { case: kind, value } = answer(query)
  if (kind !== 'fileDescriptorResponse') throw new Error(`${kind}: ${JSON.stringify(value)}`)
  return value.fileDescriptorProto.map((bytes) => fromBinary(FileDescriptorProtoSchema, bytes))
}
const namesFor = (...query: Parameters<Answer>) => filesFor(...query).map(({ name }) => name)

const notFound = (asked: string) => ({
  case: 'errorResponse',
  value: { errorCode: Code.NotFound, errorMessage: expect.stringContaining(asked) },
})

describe('the file of a symbol', () => {
  it.each([
    '',
    'aggregator.v1',
    '.aggregator.v1.QuoteService',
    'aggregator.v1.QuoteService.getQuote',
    'aggregator.v1.QuoteService.GetQuote.GetQuote',
    'aggregator.v1.GetQuoteRequest.chainId',
    'aggregator.v1.SolverService',
    '__proto__',
  ])('is not found for %j', (symbol) => {
    expect(answer({ case: 'fileContainingSymbol', value: symbol })).toEqual(notFound(symbol))
  })
})

describe('a file by its name', () => {
  it('comes first, followed by all that it imports, each once', () => {
    expect(namesFor({ case: 'fileByFilename', value: 'aggregator/v1/event.proto' })).toEqual([
      'aggregator/v1/event.proto',
      'aggregator/v1/chain_health.proto',
      'google/api/annotations.proto',
      HTTP_FILE,
      DESCRIPTOR_FILE,
    ])
  })

  it.each(['', 'quote.proto', '__proto__'])('is not found for %j', (name) => {
    expect(answer({ case: 'fileByFilename', value: name })).toEqual(notFound(name))
  })

  it.each(SERVED)('has the whole descriptor of $typeName', (service: DescService) => {
    const file = filesFor({ case: 'fileContainingSymbol', value: service.typeName })
    // A client that builds types from files needs imported files first.
    const set = {
      $typeName: 'google.protobuf.FileDescriptorSet',
      file: file.toReversed(),
    } as FileDescriptorSet
    const read = fromBinary(FileDescriptorSetSchema, toBinary(FileDescriptorSetSchema, set))
    const rebuilt = createFileRegistry(read).getService(service.typeName)
    expect(
      rebuilt?.methods.map(({ name, input, output }) => [name, input.typeName, output.typeName]),
    ).toEqual(service.methods.map(({ name, input, output }) => [name, input.typeName, output.typeName]))
    expect(rebuilt?.methods.map(({ proto }) => proto.options)).toEqual(
      service.methods.map(({ proto }) => proto.options),
    )
  })
})

it('queries of extensions are not implemented: files come with their imports', () => {
  const value = { containingType: 'google.protobuf.MethodOptions', extensionNumber: 72295728 }
  expect(answer({ case: 'fileContainingExtension', value }).value).toMatchObject({
    errorCode: Code.Unimplemented,
  })
})
