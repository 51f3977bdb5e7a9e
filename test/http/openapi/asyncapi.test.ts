import { createRequire } from 'node:module'
import { Ajv } from 'ajv'
import addFormats from 'ajv-formats'
import { expect, test } from 'vitest'
import { asyncApiMessages, asyncApiOf, asyncApiServers } from '../../../src/http/openapi/asyncapi.js'
import { events } from '../../../src/http/openapi/examples.js'
import { type Document, readDocument } from '../../support/openapi/document.js'
import { contract } from './served-contract.js'

const TYPES = ['connected', 'Deposited', 'Settled', 'Refunded', 'Reverted']
const schema = createRequire(import.meta.url)('@asyncapi/specs/schemas/3.0.0.json')
const ORIGIN = { host: 'quotes.example:8443', isSecure: true }
const document: Document = { ...asyncApiOf(contract, events), servers: asyncApiServers(ORIGIN) }

/** The specification's schema contains the schema of the draft. */
function validate(value: object): unknown {
  const ajv = new Ajv({ strict: false, meta: false, validateSchema: false })
  addFormats.default(ajv)
  const isValid = ajv.compile(schema)
  return isValid(JSON.parse(JSON.stringify(value))) ? undefined : isValid.errors
}

test('the document is valid AsyncAPI 3', () => {
  expect(document.asyncapi).toBe('3.0.0')
  expect(validate(document)).toBeUndefined()
})

test('both transports of the stream are channels, each with all messages', () => {
  const { webSocket, serverSentEvents } = document.channels
  expect([webSocket.address, serverSentEvents.address]).toEqual(['/v1/ws', '/v1/events'])
  for (const channel of [webSocket, serverSentEvents]) expect(Object.keys(channel.messages)).toEqual(TYPES)
  const query = webSocket.bindings.ws.query.properties
  expect(Object.keys(query)).toEqual(['after', 'chainId', 'type', 'orderId', 'user', 'solver'])
})

test('every message has a real example that matches its schema', () => {
  expect(asyncApiMessages().map(({ type }) => type)).toEqual(TYPES)
  const read = readDocument(document)
  for (const type of TYPES) {
    const { examples } = document.components.messages[type]
    expect(examples).toHaveLength(1)
    expect(read.problems(['components', 'messages', type, 'payload'], examples[0].payload)).toEqual([])
  }
})
