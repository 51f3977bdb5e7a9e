import { once } from 'node:events'
import { type ClientHttp2Session, connect } from 'node:http2'
import { create, toBinary } from '@bufbuild/protobuf'
import fc from 'fast-check'
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest'
import { GetOrderRequestSchema } from '../../../gen/aggregator/v1/order_pb.js'
import { DepositMode, GetQuoteRequestSchema, OrderType } from '../../../gen/aggregator/v1/quote_pb.js'
import { RegisterSolverRequestSchema } from '../../../gen/aggregator/v1/solver_pb.js'
import { solverAccounts, startChain, type TestChain } from '../../support/chain/chain.js'
import { changes, requestRules } from '../../support/clients/arbitraries.js'
import { type Answer, createRawHttpClient } from '../../support/clients/raw-http-client.js'
import { startService, type TestService } from '../../support/service/service.js'
import { quoteRequest } from '../../support/solvers/quote-request.js'
import { honest, startSolver, type TestSolver } from '../../support/solvers/solver.js'

const SEED = 20_260_103
const GET_QUOTE = '/aggregator.v1.QuoteService/GetQuote'
const PATHS = [
  GET_QUOTE,
  '/aggregator.v1.SolverService/RegisterSolver',
  '/aggregator.v1.SolverService/UnregisterSolver',
  '/aggregator.v1.SolverService/ListSolvers',
  '/aggregator.v1.SolverService/ListSolverStats',
  '/aggregator.v1.SolverService/GetSolverStats',
  '/aggregator.v1.SolverService/ListOwnResults',
  '/aggregator.v1.OrderService/GetOrder',
  '/aggregator.v1.OrderService/ListOrders',
]
const { quote: rules } = requestRules(31337)
const TEXT_FIELDS = ['inputToken', 'outputToken', 'userAddress', 'amount'] as const
/** Connect's own error of Protobuf that is not a message. */
const PARSE = /parse binary/
const NOT_A_MESSAGE = { code: 'internal', message: expect.stringMatching(PARSE) }
const [INVALID_ARGUMENT, UNIMPLEMENTED, INTERNAL, UNKNOWN] = ['3', '12', '13', '2']

let chain: TestChain
let service: TestService
let solver: TestSolver
let http: ReturnType<typeof createRawHttpClient>
let session: ClientHttp2Session

beforeAll(async () => {
  chain = await startChain({ bonded: 1 })
  service = await startService(chain)
  solver = await startSolver(chain, solverAccounts[0], honest())
  await solver.register(service)
  http = createRawHttpClient(service.url)
  session = connect(service.url)
})

afterAll(async () => {
  http?.close()
  session?.destroy()
  await service?.close()
  await solver?.close()
  await chain?.stop()
})

function hold<T>(arbitrary: fc.Arbitrary<T>, numRuns: number, test: (value: T) => Promise<void>) {
  return fc.assert(fc.asyncProperty(arbitrary, test), { seed: SEED, numRuns })
}

function rpcRequest() {
  const { orderType, depositMode, ...plain } = quoteRequest(chain)
  return {
    ...plain,
    chainId: chain.chainId,
    orderType: `ORDER_TYPE_${orderType}`,
    depositMode: `DEPOSIT_MODE_${depositMode}`,
  }
}

/** Reads a Connect error. Only an error of the caller counts as one. */
function readConnectRefusal(answer: Answer): { code: string; fields: string[] } {
  expect(answer.status, answer.text).toBeGreaterThanOrEqual(400)
  expect(answer.status, answer.text).toBeLessThan(500)
  const { code, message, details = [] } = JSON.parse(answer.text)
  expect(message).toEqual(expect.stringMatching(/./))
  const violations = details.flatMap(
    ({ debug }: { debug?: { fieldViolations?: { field: string }[] } }) => debug?.fieldViolations ?? [],
  )
  return { code, fields: violations.map(({ field }: { field: string }) => field).sort() }
}

describe('Connect with JSON', () => {
  it('gives a quote for the request as it stands', async () => {
    expect((await http.json('POST', GET_QUOTE, rpcRequest())).status).toBe(200)
  })

  it('names all bad fields for any text in text fields', () => {
    const texts = Object.fromEntries(TEXT_FIELDS.map((field) => [field, rules[field]]))
    return hold(changes(texts, { min: 1, max: 4 }), 300, async (changed) => {
      const usable = Object.entries(changed).filter(([, value]) => typeof value === 'string')
      const sent = { ...rpcRequest(), ...Object.fromEntries(usable) }
      const bad = TEXT_FIELDS.filter((field) => !rules[field].isValid(sent[field])).sort()
      const answer = await http.json('POST', GET_QUOTE, sent)
      // Lone surrogates are not text in protobuf: such a request is rejected as a whole.
      if (bad.length === 0) expect(answer.status, answer.text).toBe(200)
      else if (Object.values(sent).every((value) => isWellFormed(String(value))))
        expect(readConnectRefusal(answer)).toEqual({ code: 'invalid_argument', fields: bad })
      else expect(readConnectRefusal(answer).code).toBe('invalid_argument')
    })
  })

  it('accepts any value in any field or rejects it as an invalid argument', () =>
    hold(changes(rules, { min: 1, max: 9 }), 300, async (changed) => {
      const answer = await http.json('POST', GET_QUOTE, { ...rpcRequest(), ...changed })
      if (answer.status !== 200) expect(readConnectRefusal(answer).code).toBe('invalid_argument')
    }))

  it('rejects any JSON and any bytes at any method as an invalid argument or an unsupported chain', () => {
    const body = fc.oneof(fc.json().map(Buffer.from), fc.uint8Array({ maxLength: 300 }))
    return hold(fc.tuple(fc.constantFrom(...PATHS), body), 300, async ([path, bytes]) => {
      const { code } = readConnectRefusal(await http.json('POST', path, bytes))
      expect(['invalid_argument', 'not_found']).toContain(code)
    })
  })

  it('answers deep nesting', async () => {
    const deep = '['.repeat(30_000) + ']'.repeat(30_000)
    for (const text of [deep, `{"inputToken":${deep}}`, `{"unknown":${deep}}`]) {
      expect(['invalid_argument', 'not_found']).toContain(
        readConnectRefusal(await http.json('POST', GET_QUOTE, text)).code,
      )
    }
  })
})

function isWellFormed(text: string): boolean {
  return !/\p{Cs}/u.test(text)
}

/** Protobuf messages with a few broken bytes, and random bytes. */
const message = fc
  .tuple(
    fc.constantFrom(0, 1, 2),
    fc.array(fc.tuple(fc.nat(400), fc.integer({ min: 0, max: 255 })), { minLength: 1, maxLength: 6 }),
    fc.nat(400),
  )
  .map(([which, flips, length]) => {
    const bytes = samples()[which] ?? new Uint8Array()
    for (const [at, value] of flips) if (at < bytes.length) bytes[at] = value
    return bytes.subarray(0, Math.max(length, 1))
  })
const anyMessage = fc.oneof(message, fc.uint8Array({ minLength: 1, maxLength: 200 }))

function samples(): Uint8Array[] {
  const { orderType: _, depositMode: __, ...plain } = quoteRequest(chain)
  const quote = create(GetQuoteRequestSchema, {
    ...plain,
    chainId: 31337n,
    originChainId: 31337n,
    destinationChainId: 31337n,
    orderType: OrderType.EXACT_INPUT,
    depositMode: DepositMode.CONTRACT,
  })
  const order = create(GetOrderRequestSchema, { chainId: 31337n, orderId: `0x${'ab'.repeat(32)}` })
  const register = create(RegisterSolverRequestSchema, { chainId: 31337n, name: 'a', timestamp: 1n })
  return [
    toBinary(GetQuoteRequestSchema, quote),
    toBinary(GetOrderRequestSchema, order),
    toBinary(RegisterSolverRequestSchema, register),
  ]
}

describe('broken protobuf gets a code of Connect and counts as no error of the service', () => {
  afterEach(async () => {
    expect(await service.metric('aggregator_requests_total', { reason: 'INTERNAL' })).toBe(0)
  })

  it('on Connect', () =>
    hold(fc.tuple(fc.constantFrom(...PATHS), anyMessage), 300, async ([path, body]) => {
      const answer = await http.send('POST', path, {
        headers: { 'content-type': 'application/proto' },
        body,
      })
      if (answer.status === 500) expect(JSON.parse(answer.text)).toEqual(NOT_A_MESSAGE)
      else if (answer.status !== 200) readConnectRefusal(answer)
    }))

  it('on gRPC', () =>
    hold(fc.tuple(fc.constantFrom(...PATHS), anyMessage), 300, async ([path, bytes]) => {
      const { status, code, text } = await grpc(path, envelope(bytes))
      expect(status).toBe('200')
      expect(code, text).not.toBe(UNKNOWN)
      if (code === INTERNAL) expect(text).toMatch(PARSE)
    }))
})

it('gRPC bytes that are no messages get the code of Connect, or are not what a unary method accepts', () =>
  hold(fc.tuple(fc.constantFrom(...PATHS), fc.uint8Array({ maxLength: 100 })), 300, async ([path, bytes]) => {
    const { status, code, text } = await grpc(path, Buffer.concat([Buffer.from([0, 0, 0, 1]), bytes]))
    expect(status).toBe('200')
    expect([INVALID_ARGUMENT, UNIMPLEMENTED, INTERNAL], text).toContain(code)
  }))

function envelope(bytes: Uint8Array): Buffer {
  const prefix = Buffer.alloc(5)
  prefix.writeUInt32BE(bytes.length, 1)
  return Buffer.concat([prefix, bytes])
}

async function grpc(path: string, body: Uint8Array) {
  const stream = session.request({
    ':method': 'POST',
    ':path': path,
    'content-type': 'application/grpc+proto',
    te: 'trailers',
  })
  let headers: Record<string, unknown> = {}
  stream.on('response', (first) => {
    headers = { ...headers, ...first }
  })
  stream.on('trailers', (last) => {
    headers = { ...headers, ...last }
  })
  stream.end(body)
  stream.resume()
  await once(stream, 'close')
  return {
    status: String(headers[':status']),
    code: String(headers['grpc-status']),
    text: decodeURIComponent(String(headers['grpc-message'])),
  }
}
