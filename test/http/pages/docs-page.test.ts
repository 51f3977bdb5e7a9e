import { readFileSync } from 'node:fs'
import Fastify from 'fastify'
import { expect, it } from 'vitest'
import { registerReference } from '../../../src/http/pages/reference.js'

async function docsPage(site: { readonly hasConsole: boolean }): Promise<string> {
  const server = Fastify()
  registerReference(server, site)
  const { body } = await server.inject('/docs')
  await server.close()
  return body
}

it('the page leads to the console of an instance that has one, and to the documents', async () => {
  const alone = await docsPage({ hasConsole: false })
  expect(await docsPage({ hasConsole: true })).toContain('<a class="brand" href="./">')
  expect(alone).not.toContain('href="./"')
  for (const path of ['openapi.json', 'asyncapi.json']) expect(alone).toContain(`href="${path}"`)
})

it("the page's tokens are those of the console, and it writes no colour elsewhere", () => {
  const tokens = readFileSync('packages/console/src/styles/tokens.css', 'utf8')
  const style = readFileSync('src/http/pages/docs/style.css', 'utf8')
  const own = style.match(/--[\w-]+: .*;/g) ?? []
  expect(own.length).toBeGreaterThan(10)
  for (const token of own) expect(tokens).toContain(token)
  expect(style.replace(/--[\w-]+: .*;/g, '')).not.toMatch(/#[0-9a-f]{3,8}\b|rgb/i)
})
