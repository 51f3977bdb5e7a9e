import type { DescField, DescMessage } from '@bufbuild/protobuf'
import { ScalarType } from '@bufbuild/protobuf'
import { Validator } from '@seriousme/openapi-schema-validator'
import { describe, expect, test } from 'vitest'
import { Health } from '../../../gen/health/v1/health_pb.js'
import { QUOTE_OPTION_RULES } from '../../../packages/protocol/src/field-rules.js'
import { constrainedFields, constraintOf } from '../../../scripts/openapi/constraints.js'
import { contract } from '../../../scripts/openapi/contract.js'
import { failuresOf } from '../../../scripts/openapi/error-responses.js'
import { openApiOf } from '../../../scripts/openapi/openapi.js'
import { toPath } from '../../../scripts/openapi/operations.js'
import { compileRoutes } from '../../../src/http/rest/http-rules.js'
import {
  type Document,
  generatedDocument,
  operationsOf,
  readDocument,
} from '../../support/openapi/document.js'

const document = generatedDocument('openapi.json')
const operations = operationsOf(document)

/** Every message of the methods, with nested ones. */
function messagesOf(roots: readonly DescMessage[]): DescMessage[] {
  const inner = roots.flatMap(({ fields }) => fields.flatMap(({ message }) => message ?? []))
  return inner.length === 0 ? [...roots] : [...new Set([...roots, ...messagesOf(inner)])]
}
const messages = messagesOf(
  [...contract.methods, contract.stream].flatMap(({ input, output }) => [input, output]),
)

test('gen/openapi.json is what `npm run generate` writes', () => {
  expect(document).toEqual(openApiOf(contract))
})

test('the document is valid OpenAPI 3.1', async () => {
  expect(document.openapi).toBe('3.1.0')
  expect(await new Validator().validate(structuredClone(document))).toEqual({ valid: true })
})

test('the document describes every REST route of every method, and apart from them only health, readiness and metrics', () => {
  const routes = [...contract.methods, contract.stream].flatMap((method) =>
    compileRoutes(method).map(({ verb, url }) => `${verb} ${toPath(url)}`),
  )
  expect(operations.map(({ of }) => of).sort()).toEqual(
    [...routes, 'GET /health', 'GET /health/ready', 'GET /metrics'].sort(),
  )
})

test('each operation has its own id', () => {
  expect(new Set(operations.map(({ id }) => id)).size).toBe(operations.length)
})

test('a request must have the fields that are neither optional nor in the path', () => {
  const { schema } = document.paths['/v1/{chainId}/quote'].post.requestBody.content['application/json']
  const known = [...schema.required, ...Object.keys(QUOTE_OPTION_RULES), 'includeCalls']
  expect(Object.keys(schema.properties).sort()).toEqual(known.sort())
  expect(schema.required).not.toContain('chainId')
  expect(schema.properties.depositMode.enum).toEqual(['CONTRACT', 'ADDRESS'])
  expect(schema.properties.originChainId.description).toContain('`chainId`')
})

test('a response with a response body is the bare array', () => {
  const { schema } = document.paths['/v1/{chainId}/solvers'].get.responses[200].content['application/json']
  expect(schema).toMatchObject({ type: 'array', items: { $ref: '#/components/schemas/Solver' } })
})

test('an API key may be needed for all methods, and a password only for /metrics where the operator has set one', () => {
  expect([document.security, document.components.securitySchemes]).toEqual([
    [{}, { apiKey: [] }],
    {
      apiKey: { type: 'apiKey', in: 'header', name: 'x-api-key' },
      metrics: { type: 'http', scheme: 'basic' },
    },
  ])
  const secured = operations.flatMap(({ id, operation: { security } }) => (security ? [[id, security]] : []))
  expect(secured).toEqual([
    ['getHealth', []],
    ['getReadiness', []],
    ['getMetrics', [{}, { metrics: [] }]],
  ])
  expect(document.paths['/metrics'].get.responses[401]).toBeDefined()
})

test('a method that the list of errors does not have is an error', () => {
  expect(() => failuresOf(Health.method.check, false)).toThrow('grpc.health.v1.Health.Check')
})

describe('constraints', () => {
  const names = new Set(
    messages.flatMap(({ typeName, fields }) => fields.map(({ name }) => `${typeName}.${name}`)),
  )

  test('belong to fields that exist', () => {
    expect(constrainedFields.filter((name) => !names.has(name))).toEqual([])
  })

  test('exist for every text field', () => {
    const isText = (field: DescField) =>
      (field.fieldKind === 'scalar' || field.fieldKind === 'list') && field.scalar === ScalarType.STRING
    const bare = messages
      .flatMap(({ fields }) => fields)
      .filter((each) => isText(each) && !constraintOf(each))
    expect(bare.map(String)).toEqual([])
  })
})

describe('examples', () => {
  const read = readDocument(document)
  const contents = operations.flatMap(({ of, place, operation: { requestBody, responses } }) => {
    const bodies = [['requestBody', requestBody], ...Object.entries<Document>(responses)]
    return bodies.flatMap(([name, body]) =>
      Object.entries<Document>(body?.content ?? {}).map(([type, { schema, ...content }]) => {
        const inside = name === 'requestBody' ? [name] : ['responses', name]
        const examples = content.examples ?? { request: { value: content.example } }
        return {
          name: `${of} ${name}`,
          place: [...place, ...inside, 'content', type, 'schema'],
          examples,
          schema,
        }
      }),
    )
  })

  test.each(contents)('of $name match their schemas', ({ place, examples, name }) => {
    for (const { value } of Object.values<Document>(examples)) expect(read.problems(place, value)).toEqual([])
    if (!name.endsWith(' 500')) expect(Object.keys(examples)).not.toEqual([])
  })

  test.each(contents.filter(({ schema }) => schema.properties?.code))(
    'of $name have one for each reason',
    (content) => {
      const reasons = content.schema.properties.code.enum.filter((reason: string) => reason !== 'INTERNAL')
      expect(Object.keys(content.examples)).toEqual(expect.arrayContaining(reasons))
    },
  )

  test('fill the path of every operation', () => {
    const parameters = operations.flatMap(({ operation }): Document[] => operation.parameters ?? [])
    const bare = parameters.filter((each) => each.in === 'path' && each.example === undefined)
    expect(bare).toEqual([])
  })
})
