import { readFileSync } from 'node:fs'
import { expect, it } from 'vitest'
import { docsPage, STYLE } from '../../../src/http/pages/docs-page.js'

it('the page leads to the console of an instance that has one, and to the documents', () => {
  expect(docsPage({ hasConsole: true })).toContain('<a class="brand" href="./">')
  expect(docsPage({ hasConsole: false })).not.toContain('href="./"')
  for (const path of ['openapi.json', 'asyncapi.json'])
    expect(docsPage({ hasConsole: false })).toContain(`href="${path}"`)
})

it("the page's tokens are those of the console, and it writes no colour elsewhere", () => {
  const tokens = readFileSync('packages/console/src/styles/tokens.css', 'utf8')
  const own = STYLE.match(/--[\w-]+: .*;/g) ?? []
  expect(own.length).toBeGreaterThan(10)
  for (const token of own) expect(tokens).toContain(token)
  expect(STYLE.replace(/--[\w-]+: .*;/g, '')).not.toMatch(/#[0-9a-f]{3,8}\b|rgb/i)
})
