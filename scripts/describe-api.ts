/**
 * Writes the OpenAPI and the AsyncAPI document, which the service serves. The second has no `servers`: the service adds its
 * own.
 *
 *   tsx scripts/describe-api.ts [outDir=gen]
 *
 * The output depends on the protos and their comments, on rules and reasons in `packages/protocol/src`, on the version in package.json
 * and on the examples in gen/examples.json.
 */
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { asyncApiOf } from './openapi/asyncapi.js'
import { contract, examples } from './openapi/contract.js'
import { openApiOf } from './openapi/openapi.js'

const outDir = process.argv[2] ?? 'gen'
const write = (name: string, document: object) =>
  writeFileSync(join(outDir, name), `${JSON.stringify(document, undefined, 2)}\n`)
write('openapi.json', openApiOf(contract))
write('asyncapi.json', asyncApiOf(contract, examples.events))
