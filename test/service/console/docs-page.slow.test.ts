import { existsSync } from 'node:fs'
import { type Browser, chromium, type Page } from 'playwright-core'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { solverAccounts } from '../../support/chain/chain.js'
import { seriousFindings } from '../../support/console/axe.js'
import { overflow } from '../../support/console/console.js'
import { startModelChain } from '../../support/model-chain/start-model-chain.js'
import { CHROMIUM } from '../../support/packages/chromium.js'
import { startService } from '../../support/service/service.js'
import { shared } from '../../support/shared.js'
import { startSolver } from '../../support/solvers/solver.js'

const chain = await shared(startModelChain({ bonded: 1 }))
const service = await shared(startService(chain, { CONSOLE: 'false' }))
const solver = await shared(startSolver(chain, solverAccounts[0]))
await solver.register(service)

it('/docs allows only its own scripts and styles', async () => {
  const { headers } = await service.get('/docs')
  const policy = headers.get('content-security-policy') ?? ''
  expect(policy).toContain("default-src 'none'")
  expect(policy).not.toMatch(/unsafe|http|\*/)
})

it('without a console, / redirects to the page, which loads all its files from the service', async () => {
  const root = await fetch(service.url, { redirect: 'manual' })
  expect([root.status, root.headers.get('location')]).toEqual([302, 'docs'])
  const page: string = (await service.get('/docs')).body
  const addresses = [...page.matchAll(/(?:src|href)="([^"]+)"/g)].map(([, address = '']) => address)
  expect(addresses.length).toBeGreaterThan(3)
  for (const address of addresses) {
    const { status, headers } = await service.get(new URL(address, `${service.url}/docs`).pathname)
    expect([address, status, headers.get('x-content-type-options')]).toEqual([address, 200, 'nosniff'])
  }
})

describe.skipIf(!existsSync(CHROMIUM))('the page in a browser (needs /usr/bin/chromium)', () => {
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

  it('shows every operation', async () => {
    await operation().waitFor()
    const { paths, webhooks } = (await service.get('/openapi.json')).body
    const operations = Object.values<object>({ ...paths, ...webhooks }).flatMap((each) => Object.keys(each))
    expect(await page.locator('.opblock').count()).toBe(operations.length)
  })

  it('begins with requests to this instance, of which one is sent by a button', async () => {
    const step = page.locator('.steps li', { hasText: 'Ask for a price' })
    await step.getByText(`curl ${service.url}/v1/31337/price`).waitFor()
    await step.getByRole('button', { name: 'Run it' }).click()
    await step.getByText(/"(best|error)": /).waitFor()
  })

  it('has nothing that axe finds serious, in both themes and on a phone', async () => {
    await operation().locator('.opblock-summary-control').click()
    await operation().locator('.responses-inner').waitFor()
    for (const [width, colorScheme] of [
      [1440, 'light'],
      [390, 'dark'],
    ] as const) {
      await page.setViewportSize({ width, height: 900 })
      await page.emulateMedia({ colorScheme })
      expect(await seriousFindings(page), `${width} ${colorScheme}`).toEqual([])
      expect(await overflow(page)).toBe(0)
    }
    // A media type fits into its field.
    const field = await page.locator('.response-controls select').first().boundingBox()
    expect(field?.width).toBeGreaterThan(150)
    await page.setViewportSize({ width: 1280, height: 720 })
  })

  it('breaks no rule of its content security policy, and calls no other origin', () => {
    // The console of a browser logs error responses.
    expect(complaints.filter((text) => !text.includes('status of 401'))).toEqual([])
    expect(elsewhere).toEqual([])
  })
})
