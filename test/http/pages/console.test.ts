import { gunzipSync } from 'node:zlib'
import Fastify from 'fastify'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { type Console, readConsole, registerConsole } from '../../../src/http/pages/console.js'
import { BUILT } from '../../support/process/built.js'

const server = Fastify()
let files: Console

beforeAll(() => {
  files = readConsole(`${BUILT}/console`) ?? []
  registerConsole(server, files)
})
afterAll(() => server.close())

it('the page may load only its own files, and is asked for each time', async () => {
  const { statusCode, headers, body } = await server.inject('/')
  expect([statusCode, headers['content-type'], headers['cache-control']]).toEqual([
    200,
    'text/html; charset=utf-8',
    'no-cache',
  ])
  expect(headers['content-security-policy']).toBe(
    "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; img-src 'self' data:; frame-ancestors 'none'; base-uri 'none'",
  )
  expect(body).not.toMatch(/<script>|style=|https?:/)
})

it('each other file has a hash in its name, and is cached for ever', async () => {
  const others = files.filter(({ name }) => name !== 'index.html')
  expect(others.length).toBeGreaterThanOrEqual(4)
  for (const { name } of others) {
    expect(name).toMatch(/^assets\/.+-[\w-]{8}\.\w+$/)
    const { statusCode, headers } = await server.inject(`/${name}`)
    expect([name, statusCode, headers['cache-control']]).toEqual([
      name,
      200,
      'public, max-age=31536000, immutable',
    ])
    expect(headers['content-type']).not.toBe('application/octet-stream')
  }
})

it.each([
  ['gzip', 'gzip'],
  ['br, gzip;q=0.5', 'gzip'],
  ['GZIP', 'gzip'],
  ['br', undefined],
  ['gzip;q=0', undefined],
  ['gzip; q=0.000', undefined],
  [undefined, undefined],
])('with accept-encoding %s the coding is %s', async (accepted, coding) => {
  const { name, content } = files.find((file) => file.name.endsWith('.css')) ?? {
    name: '',
    content: Buffer.alloc(0),
  }
  const headers = accepted === undefined ? {} : { 'accept-encoding': accepted }
  const response = await server.inject({ url: `/${name}`, headers })
  expect([response.headers['content-encoding'], response.headers.vary]).toEqual([coding, 'accept-encoding'])
  expect(Number(response.headers['content-length'])).toBe(response.rawPayload.length)
  const body = coding === undefined ? response.rawPayload : gunzipSync(response.rawPayload)
  expect(body.equals(content)).toBe(true)
})

it('a folder without a page is no console', () => {
  expect(readConsole('docs')).toBeUndefined()
})
