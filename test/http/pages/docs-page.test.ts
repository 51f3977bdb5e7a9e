import { readFileSync } from 'node:fs'
import Fastify from 'fastify'
import { expect, it, onTestFinished } from 'vitest'
import { redirectToDocs, registerReference } from '../../../src/http/pages/reference.js'

/** The reference of an instance, which loads from no other one. */
async function openReference(identity?: Parameters<typeof registerReference>[1]) {
  const server = Fastify()
  onTestFinished(() => server.close())
  registerReference(server, identity)
  redirectToDocs(server)
  const { body, headers } = await server.inject('/docs')
  return { server, body, headers }
}

it('the page leads to the console of an instance that has one, by its name and logo, and to the documents', async () => {
  const alone = (await openReference()).body
  const consoleLogo = { name: 'x.svg', type: 'image/svg+xml', content: Buffer.from('<svg/>') }
  const identity = { consoleName: 'Acme', consoleLogo, consoleNotice: undefined, version: '1.2.3' }
  const { body } = await openReference(identity)
  expect(body).toContain('<a class="brand" href="./">')
  expect(body).toContain('<img src="./logo" alt="" height="24"><bdi>Acme</bdi>')
  expect(alone).not.toContain('href="./"')
  for (const path of ['openapi.json', 'asyncapi.json']) expect(alone).toContain(`href="${path}"`)
})

it('the page allows only its own scripts and styles, and the instance has every file that it loads', async () => {
  const { server, body, headers } = await openReference()
  const policy = String(headers['content-security-policy'])
  expect(policy).toContain("default-src 'none'")
  expect(policy).not.toMatch(/unsafe|http|\*/)
  const addresses = [...body.matchAll(/(?:src|href)="([^"#]+)"/g)].map(([, address = '']) => address)
  expect(addresses.length).toBeGreaterThan(3)
  for (const address of addresses) {
    const { statusCode } = await server.inject(new URL(address, 'http://here/docs').pathname)
    expect([address, statusCode]).toEqual([address, 200])
  }
})

it('an instance without a console leads to the page', async () => {
  const { server } = await openReference()
  const { statusCode, headers } = await server.inject('/')
  expect([statusCode, headers.location]).toEqual([302, 'docs'])
})

it("the page's tokens are those of the console, and it writes no colour elsewhere", () => {
  const tokens = readFileSync('packages/console/src/styles/tokens.css', 'utf8')
  const style = readFileSync('src/http/pages/docs/style.css', 'utf8')
  const own = style.match(/--[\w-]+: .*;/g) ?? []
  expect(own.length).toBeGreaterThan(10)
  for (const token of own) expect(tokens).toContain(token)
  expect(style.replace(/--[\w-]+: .*;/g, '')).not.toMatch(/#[0-9a-f]{3,8}\b|rgb/i)
})
