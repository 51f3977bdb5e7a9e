import { gzipSync } from 'node:zlib'
import { expect, it } from 'vitest'
import { readText } from '../../src/calls/answer-fields.js'
import { createAggregatorClient } from '../../src/index.js'
import { readServerSentEvents } from '../../src/streams/sse-reader.js'
import { sendJson, serve } from '../server.js'

/** The longest answer, the longest error and the longest text in them (src/http.ts, src/answer-fields.ts). */
const MAX_BYTES = 4 * 1024 * 1024
const MAX_ERROR_BYTES = 64 * 1024
const MAX_TEXT = 4_096

const clientOf = (url: string) => createAggregatorClient({ baseUrl: url })

it.each([
  [200, MAX_BYTES],
  [503, MAX_ERROR_BYTES],
])(
  'the body of status %i is read to its limit of %i bytes, however small it was on its way',
  async (status, limit) => {
    const bomb = gzipSync(Buffer.alloc(3 * MAX_BYTES, ' '))
    let left = false
    const { url } = await serve((_request, response) => {
      response.on('close', () => {
        left = true
      })
      response
        .writeHead(status, { 'content-type': 'application/json', 'content-encoding': 'gzip' })
        .write(bomb)
    })
    // The answer does not end: a client that reads on waits for its time-out.
    await expect(clientOf(url).listChains()).rejects.toMatchObject({
      reason: 'ANSWER_INVALID',
      message: expect.stringContaining(`an answer of more than ${limit} bytes`),
    })
    await expect.poll(() => left).toBe(true)
  },
)

it.each([
  [200, MAX_BYTES],
  [400, MAX_ERROR_BYTES],
])(
  'an endless body of status %i is held in memory to its limit of %i bytes only, and is cancelled',
  async (status, limit) => {
    const { body, taken, isCancelled } = endlessBody()
    const headers = { 'content-type': 'application/json' }
    const client = createAggregatorClient({
      baseUrl: 'http://a.example',
      fetch: async () => new Response(body, { status, headers }),
    })
    await expect(client.listSolvers(1)).rejects.toMatchObject({ reason: 'ANSWER_INVALID' })
    expect([taken() <= limit + 2 * CHUNK_BYTES, isCancelled()]).toEqual([true, true])
  },
)

it('a page of a gateway, which is no JSON, is not read', async () => {
  const { body, taken, isCancelled } = endlessBody()
  const client = createAggregatorClient({
    baseUrl: 'http://a.example',
    fetch: async () => new Response(body, { status: 503, headers: { 'content-type': 'text/html' } }),
  })
  await expect(client.listSolvers(1)).rejects.toMatchObject({ reason: 'CONNECTION_FAILED' })
  expect([taken() <= 2 * CHUNK_BYTES, isCancelled()]).toEqual([true, true])
})

const CHUNK_BYTES = 16 * 1024

/** A body without an end, and how much of it was taken. */
function endlessBody() {
  let taken = 0
  let isCancelled = false
  const body = new ReadableStream<Uint8Array>({
    pull(controller) {
      taken += CHUNK_BYTES
      controller.enqueue(new Uint8Array(CHUNK_BYTES).fill(0x20))
    },
    cancel() {
      isCancelled = true
    },
  })
  return { body, taken: () => taken, isCancelled: () => isCancelled }
}

it('an answer below the limit is read, also one of many pieces', async () => {
  const padding = ' '.repeat(MAX_BYTES - 100)
  const { url } = await serve((_request, response) => {
    response.writeHead(200, { 'content-type': 'application/json' }).end(`{"chains":[]}${padding}`)
  })
  expect(await clientOf(url).listChains()).toEqual([])
})

it('a text of an instance has at most so many characters, and its errors are cut', async () => {
  const long = 'x'.repeat(MAX_TEXT + 1)
  const { url } = await serve((_request, response) => {
    sendJson(response, 400, { error: long, code: 'INVALID_ARGUMENT' })
  })
  const refused = await clientOf(url)
    .listChains()
    .catch((error) => error)
  expect(refused.message).toBe('x'.repeat(1_000))
  expect(() => readText(long)).toThrow('instead of a text of at most 4096 characters')
})

it('an answer is named as what it is, however deep it is', async () => {
  const depth = 1_000_000
  const { url } = await serve((_request, response) => {
    response.setHeader('content-type', 'application/json')
    response.end(`{"chains":{"a":${'['.repeat(depth)}${']'.repeat(depth)}}}`)
  })
  await expect(clientOf(url).listChains()).rejects.toMatchObject({
    reason: 'ANSWER_INVALID',
    message: expect.stringContaining('a value instead of a list'),
  })
})

it.each([301, 302, 307, 308])('a redirect with status %i is not followed', async (status) => {
  const other = await serve((_request, response) => sendJson(response, 200, { chains: [] }))
  const { url } = await serve((_request, response) => {
    response.writeHead(status, { location: `${other.url}/admin` }).end()
  })
  const first = await clientOf(url)
    .streamEvents({}, { signal: AbortSignal.timeout(300) })
    [Symbol.asyncIterator]()
    .next()
  expect(first.done).toBe(true)
  await expect(clientOf(url).listChains()).rejects.toMatchObject({
    reason: 'CONNECTION_FAILED',
    message: expect.stringContaining('unexpected redirect'),
  })
  expect(other.requests()).toBe(0)
})

it('a long line that comes byte by byte is read once', async () => {
  const byte = new TextEncoder().encode('x')
  async function* chunks() {
    yield new TextEncoder().encode(`data: ${'x'.repeat(800_000)}`)
    // Each read of the whole line again would take minutes.
    for (let count = 0; count < 200_000; count++) yield byte
    yield new TextEncoder().encode('\n\n')
  }
  const lengths: number[] = []
  for await (const { data } of readServerSentEvents(chunks())) lengths.push(data.length)
  expect(lengths).toEqual([1_000_000])
})
