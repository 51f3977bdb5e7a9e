import { existsSync } from 'node:fs'
import { type Browser, chromium, type Page } from 'playwright-core'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { solverAccounts, startChain, type TestChain } from './chain.js'
import { CHROMIUM } from './chromium.js'
import { quoteRequest } from './quote-request.js'
import { startService, type TestService } from './service.js'
import { startSolver, type TestSolver } from './test-solver.js'

let chain: TestChain
let service: TestService
let solver: TestSolver

beforeAll(async () => {
  chain = await startChain({ bonded: 1 })
  service = await startService(chain)
  solver = await startSolver(chain, solverAccounts[0])
  await solver.register(service)
})
afterAll(async () => {
  await service?.close()
  await solver?.close()
  await chain?.stop()
})

it('/docs allows its own scripts and styles and nothing more', async () => {
  const { headers } = await service.get('/docs')
  const policy = headers.get('content-security-policy') ?? ''
  expect(policy).toContain("default-src 'none'")
  expect(policy).not.toMatch(/unsafe|http|\*/)
})

it('/docs has all its files here', async () => {
  const page: string = (await service.get('/docs')).body
  const addresses = [...page.matchAll(/(?:src|href)="([^"]+)"/g)].map(([, address = '']) => address)
  expect(addresses.length).toBeGreaterThan(3)
  for (const address of addresses) {
    const { status, headers } = await service.get(new URL(address, `${service.url}/docs`).pathname)
    expect([address, status, headers.get('x-content-type-options')]).toEqual([address, 200, 'nosniff'])
  }
  const slash = await service.send('GET', '/docs/')
  expect([slash.status, slash.body]).toEqual([200, page])
})

describe.skipIf(!existsSync(CHROMIUM))('in a browser (needs /usr/bin/chromium)', () => {
  let browser: Browser
  let page: Page
  const complaints: string[] = []
  const elsewhere: string[] = []

  beforeAll(async () => {
    browser = await chromium.launch({ executablePath: CHROMIUM, args: ['--no-sandbox'] })
    page = await browser.newPage()
    page.on('console', (message) => message.type() === 'error' && complaints.push(message.text()))
    page.on('pageerror', (error) => complaints.push(error.message))
    page.on('request', (request) => {
      const { origin, protocol } = new URL(request.url())
      if (protocol !== 'data:' && origin !== new URL(service.url).origin) elsewhere.push(request.url())
    })
    await page.goto(`${service.url}/docs`)
  })
  afterAll(() => browser?.close())

  const operation = () => page.locator('.opblock', { hasText: '/v1/{chainId}/quote' }).first()

  it('every operation is shown', async () => {
    await operation().waitFor()
    const { paths } = (await service.get('/openapi.json')).body
    const operations = Object.values<object>(paths).flatMap((each) => Object.keys(each))
    expect(await page.locator('.opblock').count()).toBe(operations.length)
  })

  it('the example of a quote is answered with one, as it is', async () => {
    await operation().locator('.opblock-summary').click()
    await operation().locator('.try-out__btn').click()
    await operation().locator('.execute').click()
    const answer = operation().locator('.live-responses-table .response')
    await answer.waitFor()
    expect(await answer.locator('.response-col_status').innerText()).toMatch(/^200/)
    expect(await answer.innerText()).toContain(solverAccounts[0].address)
  })

  it('its console gets a quote', async () => {
    const quoted = await page.evaluate(
      async ({ chainId, body }) => {
        const headers = { 'content-type': 'application/json' }
        const response = await fetch(`/v1/${chainId}/quote`, { method: 'POST', headers, body })
        const answer = (await response.json()) as { quote: { solver: string } }
        return { status: response.status, answer }
      },
      { chainId: chain.chainId, body: JSON.stringify(quoteRequest(chain)) },
    )
    expect([quoted.status, quoted.answer.quote.solver]).toEqual([200, solverAccounts[0].address])
  })

  it('the policy refused nothing, and nothing was asked of another origin', () => {
    expect(complaints).toEqual([])
    expect(elsewhere).toEqual([])
  })
})
