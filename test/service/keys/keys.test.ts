import { readdirSync, readFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { createClient } from '@connectrpc/connect'
import { createGrpcTransport } from '@connectrpc/connect-node'
import { describe, expect, it } from 'vitest'
import { OrderService } from '../../../gen/aggregator/v1/order_pb.js'
import { formatApiKey } from '../../../src/clients/api-key.js'
import { createApiKey } from '../../../src/clients/api-key-secret.js'
import { solverAccounts } from '../../support/chain/chain.js'
import { eventually } from '../../support/eventually.js'
import { startModelChain } from '../../support/model-chain/start-model-chain.js'
import { shared } from '../../support/shared.js'
import { quoteRequest } from '../../support/solvers/quote-request.js'
import { startSolver } from '../../support/solvers/solver.js'
import type { StreamClient } from '../../support/streams/stream-clients.js'
import { eventSource, type StreamTransport, transports, webSocket } from '../../support/streams/transports.js'
import { startKeyedService } from './keyed-service.js'

const UNKNOWN_ORDER = `0x${'ab'.repeat(32)}`

const chain = await shared(startModelChain({ bonded: 1 }))
const service = await shared(
  startKeyedService(chain, {
    RATE_LIMIT_ORDER: '1',
    RATE_LIMIT_PRICE: '1',
    MAX_STREAM_CLIENTS_PER_IP: '1',
    REQUIRE_API_KEY: 'price',
  }),
)
const solver = await shared(startSolver(chain, solverAccounts[0]))
await solver.register(service)

const headersOf = (key: string | undefined): Record<string, string> =>
  key === undefined ? {} : { 'x-api-key': key }
const getOrder = (headers: Record<string, string>) =>
  service.send('GET', `/v1/${chain.chainId}/order/${UNKNOWN_ORDER}`, undefined, { headers })

const orders = createClient(OrderService, createGrpcTransport({ baseUrl: service.url }))

/** Whether a read of an order over gRPC is accepted. */
function isAcceptedOverGrpc(headers: Record<string, string>): Promise<boolean> {
  return orders.getOrder({ chainId: BigInt(chain.chainId), orderId: UNKNOWN_ORDER }, { headers }).then(
    () => true,
    () => false,
  )
}

/** How many reads of orders are accepted, over REST and gRPC in turn. */
async function countReads(key: string | undefined): Promise<number> {
  for (let count = 0; ; count++) {
    const headers = headersOf(key)
    const isAccepted =
      count % 2 === 0 ? (await getOrder(headers)).status === 200 : await isAcceptedOverGrpc(headers)
    if (!isAccepted) return count
  }
}

/** How many streams are open at once, over server-sent events and WebSocket in turn. */
async function countStreams(key: string | undefined): Promise<number> {
  const open: StreamClient[] = []
  try {
    for (;;) {
      const transport = open.length % 2 === 0 ? eventSource : webSocket
      const client = transport.open(service.url, {}, { headers: headersOf(key) })
      const isOpen = await client.connected().then(
        () => true,
        () => false,
      )
      if (!isOpen) return open.length
      open.push(client)
    }
  } finally {
    for (const client of open) client.leave()
  }
}

it('two keys and a stranger at one address each have their own limits on REST, gRPC, server-sent events and WebSocket', async () => {
  const usual = await service.addKey('usual')
  const own = await service.addKey('own', 'order=3', 'open-streams=2')
  expect(await countReads(undefined)).toBe(1)
  expect(await countReads(own.key)).toBe(3)
  expect(await countReads(usual.key)).toBe(20)
  expect((await getOrder(headersOf(own.key))).headers.get('ratelimit-limit')).toBe('3')
  expect(await countStreams(undefined)).toBe(1)
  expect(await countStreams(own.key)).toBe(2)
  expect(await countStreams(usual.key)).toBe(5)
})

describe('a wrong key', () => {
  const wrong = formatApiKey(createApiKey())

  it('is 401 on REST with the form of all errors, also for paths that do not exist', async () => {
    for (const path of ['/v1/chains', '/v1/nothing/here', '/nothing']) {
      const { status, body } = await service.send('GET', path, undefined, { headers: headersOf(wrong) })
      expect([path, status, body.code]).toEqual([path, 401, 'API_KEY_INVALID'])
    }
  })
})

describe('REQUIRE_API_KEY', () => {
  const price = (headers: Record<string, string>) => {
    const { weth, usdc } = chain.contracts
    const body = { inputToken: weth, outputToken: usdc, orderType: 'EXACT_INPUT', amount: '1000000' }
    return service.post(`/v1/${chain.chainId}/price`, body, { headers })
  }

  it('lets only requests with a key have what it names', async () => {
    const { key } = await service.addKey('buyer')
    expect((await price(headersOf(key))).status).toBe(200)
    const { status, body } = await price({})
    expect([status, body.code]).toEqual([401, 'API_KEY_REQUIRED'])
    expect(body.error).toMatch(/needs an API key of this instance/)
    expect((await price({})).status).toBe(429)
    expect((await service.get('/v1/chains')).status).toBe(200)
  })
})

it('CORS allows neither header, so that a page of another origin fails before it sends a key', async () => {
  for (const [verb, path] of [
    ['POST', `/v1/${chain.chainId}/quote`],
    ['GET', '/v1/chains'],
    ['POST', '/aggregator.v1.QuoteService/GetQuote'],
  ] as const) {
    const { headers } = await service.send('OPTIONS', path, undefined, {
      headers: {
        origin: 'https://app.example.org',
        'access-control-request-method': verb,
        'access-control-request-headers': 'x-api-key,authorization',
      },
    })
    const allowed = (headers.get('access-control-allow-headers') ?? '').toLowerCase().split(/, ?/)
    expect(allowed).toContain('content-type')
    expect(allowed).not.toContain('x-api-key')
    expect(allowed).not.toContain('authorization')
    expect(allowed).not.toContain('*')
  }
})

it('log and record of a quote have the label, and neither they nor the database nor an answer have the key', async () => {
  const { id, key } = await service.addKey('Acme & Söhne')
  const secret = key.slice(`qa_${id}_`.length)
  const { body, status } = await service.post(`/v1/${chain.chainId}/quote`, quoteRequest(chain), {
    headers: headersOf(key),
  })
  expect(status).toBe(200)
  await getOrder(headersOf(`${key}x`))
  const line = await eventually(
    async () => service.lines.find(({ quoteId }) => quoteId === body.quoteId),
    (found) => found !== undefined,
  )
  expect(line).toMatchObject({ client: '127.0.0.1', key: 'Acme & Söhne' })
  const stored = await eventually(
    async () => readStored(),
    (text) => text.includes('"key":"Acme & S'),
  )
  const record = await service.get(`/v1/${chain.chainId}/quote/${body.quoteId}`)
  expect(record.status).toBe(200)
  const answers = JSON.stringify([
    body,
    record.body,
    await service.keys('list'),
    await service.keys('show', id),
  ])
  for (const text of [JSON.stringify(service.lines), stored, answers, (await service.get('/metrics')).body])
    expect(text).not.toContain(secret)
})

/** The bytes of all files of the database, as text. */
function readStored(): string {
  const folder = dirname(service.path)
  return readdirSync(folder)
    .map((name) => readFileSync(join(folder, name), 'latin1'))
    .join('\n')
}

it('keys revoke ends the streams of events of the key on all transports, and no others', async () => {
  const limit = `open-streams=${transports.length}`
  const { id, key } = await service.addKey('one', limit)
  const other = await service.addKey('other', limit)
  const open = (transport: StreamTransport, text: string) =>
    transport.open(service.url, {}, { headers: headersOf(text) })
  const streams = transports.map((transport) => ({ transport, client: open(transport, key) }))
  const others = [...transports.map((transport) => open(transport, other.key)), webSocket.open(service.url)]
  await Promise.all([...streams.map(({ client }) => client), ...others].map((client) => client.connected()))

  await service.keys('revoke', id)
  for (const { transport, client } of streams) {
    expect(await client.ended()).toMatchObject(endOf(transport))
    expect(await open(transport, key).ended()).toMatchObject({ reason: 'API_KEY_INVALID' })
  }
  for (const client of others) {
    expect(await Promise.race([client.ended(), Promise.resolve('open')])).toBe('open')
    client.leave()
  }
})

it('keys revoke ends a stream of quotes over server-sent events with an error', async () => {
  const { id, key } = await service.addKey('a quote stream')
  const response = await fetch(`${service.url}/v1/${chain.chainId}/quote/stream`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', ...headersOf(key) },
    body: JSON.stringify({ ...quoteRequest(chain), refreshSeconds: 60 }),
  })
  expect(response.status).toBe(200)
  let text = ''
  let isRevoked = false
  for await (const chunk of response.body ?? []) {
    text += Buffer.from(chunk).toString()
    if (isRevoked || !text.includes('event: done')) continue
    isRevoked = true
    await service.keys('revoke', id)
  }
  expect(text).toMatch(/event: error\ndata: .*"code":"API_KEY_INVALID"/)
})

/** How a stream ends that is open already. Server-sent events have no room for an error: the next connection gets it. */
function endOf({ protocol }: StreamTransport) {
  if (protocol === 'websocket') return { status: 1008, text: expect.stringContaining('revoked') }
  if (protocol === eventSource.protocol) return { status: 200 }
  return { status: 'UNAUTHENTICATED', reason: 'API_KEY_INVALID' }
}
