import { gunzipSync } from 'node:zlib'
import Fastify from 'fastify'
import { afterAll, beforeAll, expect, it } from 'vitest'
import type { ChainConfig } from '../../../src/config/config.js'
import type { Image } from '../../../src/config/image.js'
import {
  type Console,
  createLostPage,
  readConsole,
  registerConsole,
} from '../../../src/http/pages/console.js'
import { registerLogos } from '../../../src/http/pages/logos.js'
import { only } from '../../support/only.js'
import { BUILT } from '../../support/process/built.js'

const IDENTITY = {
  consoleName: 'Quote aggregator',
  consoleLogo: undefined,
  consoleNotice: undefined,
  version: '1.2.3',
}
const server = Fastify()
let files: Console

beforeAll(() => {
  files = readConsole(`${BUILT}/console`) ?? []
  registerConsole(server, files, IDENTITY)
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
  const others = files.filter(({ name }) => !name.endsWith('.html'))
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

/** A server of one instance, whose console has only its page. */
async function pageOf(name: string, logo?: Image) {
  const one = Fastify()
  const pages = files.filter((file) => file.name === 'index.html')
  registerConsole(one, pages, { ...IDENTITY, consoleName: name, consoleLogo: logo })
  const headers = { 'accept-encoding': 'gzip' }
  const [page, compressed, image] = await Promise.all([
    one.inject('/'),
    one.inject({ url: '/', headers }),
    one.inject('/logo'),
  ])
  await one.close()
  expect(gunzipSync(compressed.rawPayload).toString()).toBe(page.body)
  return { body: page.body, image }
}

const tagsIn = (body: string, tag: RegExp) => body.match(tag) ?? []

it('the page says whose instance it is, in its compressed form too', async () => {
  const { body, image } = await pageOf('Acme & Söhne')
  expect(body).toContain('<meta name="application-name" content="Acme &#38; Söhne">')
  expect(body).toContain('<title>Acme &#38; Söhne</title>')
  expect(body).toContain('<meta name="version" content="1.2.3">')
  expect(tagsIn(body, /<link rel="icon"[^>]*>/g)).toHaveLength(1)
  expect(body).not.toContain('href="/logo"')
  expect(image.statusCode).toBe(404)
})

it.each([
  ['/nope', './assets/', './help'],
  ['/v1/nope?x=/', './../assets/', './../help'],
])('the page at %s that does not exist leads back to the console', (path, assets, help) => {
  const html = createLostPage(files, { ...IDENTITY, consoleName: 'Acme' })?.(path) ?? ''
  expect(html).toContain(`href="${assets}`)
  expect(html).toContain(`href="${help}"`)
  expect(html).toMatch(/<h1>.*<\/h1>/)
  expect(html).toContain('Acme')
})

it('the help page is a page of its own, without a script', async () => {
  const { statusCode, headers, body } = await server.inject('/help')
  expect([statusCode, headers['content-type']]).toEqual([200, 'text/html; charset=utf-8'])
  expect(body).not.toMatch(/<script|style=/)
})

it('a name is text, whatever it has', async () => {
  const { body } = await pageOf(`"><script>alert('$&$1')</script>`)
  expect(body).toContain('content="&#34;&#62;&#60;script&#62;alert(&#39;$&#38;$1&#39;)&#60;/script&#62;"')
  expect(body).not.toContain('<script>')
})

it('the logo is the icon of the page, and runs nothing when it is opened', async () => {
  const content = Buffer.from('<svg xmlns="http://www.w3.org/2000/svg"/>')
  const { body, image } = await pageOf('Acme', {
    name: 'x.svg',
    type: 'image/svg+xml; charset=utf-8',
    content,
  })
  expect(tagsIn(body, /<link rel="icon"[^>]*>/g)).toEqual(['<link rel="icon" href="./logo">'])
  expect(body).toContain('<meta name="logo" content="./logo">')
  expect(image.rawPayload).toEqual(content)
  expect(image.headers).toMatchObject({
    'content-type': 'image/svg+xml; charset=utf-8',
    'content-security-policy': "default-src 'none'; frame-ancestors 'none'; sandbox",
    'cache-control': 'no-cache',
  })
})

it('a logo of a token is served once, by its name, for ever', async () => {
  const one = Fastify()
  const content = Buffer.from('<svg xmlns="http://www.w3.org/2000/svg"/>')
  const logo = { name: '0a1b2c3d4e5f6071.svg', type: 'image/svg+xml; charset=utf-8', content }
  const token = (digit: string, of: Image | undefined) =>
    [`0x${digit}` as const, { address: `0x${digit}` as const, symbol: 'A', decimals: 18, logo: of }] as const
  const tokenList = new Map([token('1', logo), token('2', logo), token('3', undefined)])
  const chain = only<ChainConfig>({ tokenList })
  registerLogos(one, [chain, chain])
  const { rawPayload, headers } = await one.inject('/logos/0a1b2c3d4e5f6071.svg')
  expect(rawPayload).toEqual(content)
  expect(headers).toMatchObject({
    'content-security-policy': "default-src 'none'; frame-ancestors 'none'; sandbox",
    'cache-control': 'public, max-age=31536000, immutable',
  })
  expect((await one.inject('/logos/0a1b2c3d4e5f6070.svg')).statusCode).toBe(404)
  await one.close()
})
