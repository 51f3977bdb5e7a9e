import { createRequire } from 'node:module'
import { Ajv } from 'ajv'
import addFormats from 'ajv-formats'
import { expect, test } from 'vitest'
import { asyncApiMessages, asyncApiOf } from '../../../scripts/openapi/asyncapi.js'
import { contract, examples } from '../../../scripts/openapi/contract.js'
import { type Document, generatedDocument, readDocument } from '../../support/openapi/document.js'

const TYPES = ['connected', 'Deposited', 'Settled', 'Refunded', 'Reverted', 'Health']
const schema = createRequire(import.meta.url)('@asyncapi/specs/schemas/3.0.0.json')
const document: Document = generatedDocument('asyncapi.json')

/** The specification's schema contains the schema of the draft. */
function validate(value: object): unknown {
  const ajv = new Ajv({ strict: false, meta: false, validateSchema: false })
  addFormats.default(ajv)
  const isValid = ajv.compile(schema)
  return isValid(JSON.parse(JSON.stringify(value))) ? undefined : isValid.errors
}

test('gen/asyncapi.json is what `npm run generate` writes', () => {
  expect(document).toEqual(asyncApiOf(contract, examples.events))
})

test('the document is valid AsyncAPI 3', () => {
  expect(document.asyncapi).toBe('3.0.0')
  expect(validate(document)).toBeUndefined()
})

test('every message has an example that matches its schema', () => {
  expect(asyncApiMessages().map(({ type }) => type)).toEqual(TYPES)
  const read = readDocument(document)
  for (const type of TYPES) {
    const { examples } = document.components.messages[type]
    expect(examples).toHaveLength(1)
    expect(read.problems(['components', 'messages', type, 'payload'], examples[0].payload)).toEqual([])
  }
})

test('the session of a solver is a channel with the messages of both sides', () => {
  const { solverSession } = document.channels
  expect(solverSession.address).toBe('/v1/solvers/session')
  const namesOf = (operation: string) =>
    document.operations[operation].messages.map(({ $ref }: { $ref: string }) => $ref.split('/').at(-1))
  expect(namesOf('receiveFromSolver')).toEqual(['hello', 'quote', 'decline', 'pong'])
  expect(namesOf('sendToSolver')).toEqual([
    ...['challenge', 'ready', 'quoteRequest', 'result', 'event', 'ping', 'goAway', 'error'],
  ])
  expect(Object.keys(solverSession.messages)).toHaveLength(12)
})

test('the messages of a session match their schemas', () => {
  const { problems } = readDocument(document)
  const check = (type: string, message: object) =>
    expect(problems(['components', 'messages', type, 'payload'], { type, ...message })).toEqual([])
  const id = '0b0c0d0e-0000-4000-8000-000000000000'
  const event = examples.events.find(({ type }) => type === 'Deposited')
  check('challenge', { nonce: `0x${'ab'.repeat(32)}`, serverTime: 1_795_267_587_305 })
  check('hello', {
    address: `0x${'12'.repeat(20)}`,
    name: 'Ada',
    audience: 'https://quotes.example',
    chainIds: [1, 10],
    signature: `0x${'ab'.repeat(65)}`,
    events: { after: 'earliest' },
  })
  check('ready', {
    sessionId: id,
    heartbeatMs: 20_000,
    limits: { maxMessageBytes: 65_536, maxOpenRequests: 1024 },
    cursor: event?.cursor,
  })
  check('decline', { id, code: 'PAUSED' })
  check('result', { id, outcome: 'INVALID', reason: 'signature_mismatch' })
  check('event', { event, cursor: event?.cursor })
  check('goAway', { reconnectWithinMs: 1000 })
  check('error', { error: 'Not so.', code: 'SIGNATURE_INVALID' })
})
