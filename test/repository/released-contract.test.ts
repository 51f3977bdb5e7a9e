import { readFileSync } from 'node:fs'
import { createFileRegistry, createRegistry, fromBinary, type Registry } from '@bufbuild/protobuf'
import { FileDescriptorSetSchema } from '@bufbuild/protobuf/wkt'
import { expect, test } from 'vitest'
import { file_aggregator_v1_event } from '../../gen/aggregator/v1/event_pb.js'
import { file_aggregator_v1_order } from '../../gen/aggregator/v1/order_pb.js'
import { file_aggregator_v1_quote } from '../../gen/aggregator/v1/quote_pb.js'
import { file_aggregator_v1_solver } from '../../gen/aggregator/v1/solver_pb.js'
import { compileRoutes } from '../../src/http/rest/http-rules.js'

/** The REST route of each method, such as `GetOrder GET /v1/:chainId/order/:orderId body false `. */
function routesOf(registry: Registry): string[] {
  const routes: string[] = []
  for (const type of registry) {
    if (type.kind !== 'service' || !type.typeName.startsWith('aggregator.v1.')) continue
    for (const method of type.methods)
      for (const { verb, url, hasBody, responseField } of compileRoutes(method))
        routes.push(`${method.name} ${verb} ${url} body ${hasBody} ${responseField?.name ?? ''}`)
  }
  return routes
}

// `buf breaking` compares messages and methods, and not their HTTP rules.
test('every REST route of the released contract is still served', () => {
  const released = fromBinary(FileDescriptorSetSchema, readFileSync('buf.released.binpb'))
  const before = routesOf(createFileRegistry(released))
  const now = routesOf(
    createRegistry(
      file_aggregator_v1_event,
      file_aggregator_v1_order,
      file_aggregator_v1_quote,
      file_aggregator_v1_solver,
    ),
  )
  expect(before.length).toBeGreaterThan(6)
  expect(now).toEqual(expect.arrayContaining(before))
})
