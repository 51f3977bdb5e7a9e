import { gzipSync } from 'node:zlib'
import { expect, it } from 'vitest'
import { readText } from '../src/answer-fields.js'
import { createAggregatorClient } from '../src/index.js'
import { readServerSentEvents } from '../src/sse.js'
import { sendJson, serve } from './server.js'

/** The longest answer and the longest text in it (src/http.ts, src/answer-fields.ts). */
const MAX_BYTES = 4 * 1024 * 1024
const MAX_TEXT = 4_096

const clientOf = (url: string) => createAggregatorClient({ baseUrl: url })

it.each([200, 503])(
  'the body of status %i is read to its limit, however small it was on its way',
  async (status) => {
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
      message: expect.stringContaining(`an answer of more than ${MAX_BYTES} bytes`),
    })
    await expect.poll(() => left).toBe(true)
  },
)

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
