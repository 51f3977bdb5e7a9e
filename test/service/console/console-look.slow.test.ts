import { existsSync } from 'node:fs'
import { createAggregatorClient, signRegistration } from '@quote-aggregator/client'
import type { Locator } from 'playwright-core'
import { describe, expect, it } from 'vitest'
import { testTokenAbi, testTokenBytecode } from '../../../gen/contracts/test-token.js'
import { createDevnetClient, mined } from '../../../packages/cli/src/devnet/deploy.js'
import { runScenario } from '../../../packages/cli/src/devnet/scenario.js'
import { seriousFindings } from '../../support/console/axe.js'
import { overflow, takeScreenshot } from '../../support/console/console.js'
import { PAGE_WAIT, useConsole } from '../../support/console/swap-page.js'
import { generatedDocument } from '../../support/openapi/document.js'
import { CHROMIUM } from '../../support/packages/chromium.js'

/** Each width, and each theme on a desk and on a phone at one of the two kinds of places. */
const SCREENS = {
  empty: [
    { width: 1440, colorScheme: 'dark' },
    { width: 390, colorScheme: 'light' },
  ],
  busy: [
    { width: 1440, colorScheme: 'light' },
    { width: 1024, colorScheme: 'light' },
    { width: 390, colorScheme: 'dark' },
  ],
} as const
/** What the page has and Node's types do not. */
interface PageGlobals {
  getComputedStyle(element: unknown): { getPropertyValue(name: string): string }
}

/** A property of an element as it is shown. */
const styleOf = (element: Locator, property: string): Promise<string> =>
  element.evaluate(
    (shown, name) => (globalThis as unknown as PageGlobals).getComputedStyle(shown).getPropertyValue(name),
    property,
  )

/** Names that strangers may choose. */
const MARKUP = '<img src=x onerror=document.title="taken">&lt;b&gt;</bdi>'
const LONG_NAME = 'W'.repeat(64)
const NO_ORDER = `0x${'0'.repeat(64)}`

interface Place {
  readonly name: string
  readonly path: string
  /** A text that shows that the page has its data. */
  readonly ready: RegExp
}

let stage: ReturnType<typeof useConsole>

/** The places of an instance where nothing has happened yet. */
const emptyPlaces = (): Place[] => [
  { name: 'swap', path: 'swap', ready: /Best of 3 offers/ },
  { name: 'market', path: 'market', ready: /No orders yet/ },
  { name: 'orders', path: 'orders', ready: /No orders yet/ },
  { name: 'order', path: `order/${NO_ORDER}`, ready: /Order not found/ },
  {
    name: 'quote',
    path: 'quote/00000000-0000-4000-8000-000000000000',
    ready: /no record|not found|no longer/i,
  },
]

/** The places once the demo has played its story. */
async function busyPlaces(): Promise<Place[]> {
  const { serviceUrl, contracts, user, solvers } = stage.network
  const client = createAggregatorClient({ baseUrl: serviceUrl })
  const { orders } = await client.listOrders(31337)
  const { quoteId } = await client.getQuote({
    chainId: 31337,
    inputToken: contracts.weth,
    outputToken: contracts.usdc,
    orderType: 'EXACT_INPUT',
    amount: 10n ** 18n,
    user: user.address,
    depositMode: 'CONTRACT',
  })
  return [
    { name: 'swap', path: stage.swapLink({ for: user.address, mode: 'address' }), ready: /round 1/ },
    { name: 'swap-price', path: stage.swapLink(), ready: /3 offers/ },
    { name: 'market', path: 'market', ready: /Volume in 24 h/ },
    { name: 'orders', path: 'orders', ready: /Settled in/ },
    { name: 'orders-filtered', path: `orders?state=settled&user=${user.address}`, ready: /Settled in/ },
    { name: 'order', path: `order/${orders[0]?.orderId}`, ready: /Timeline/ },
    { name: 'solvers', path: 'solvers', ready: /Cosmo/ },
    { name: 'solver', path: `solver/${solvers[0]?.account.address}`, ready: /WETH|0x9fE4/ },
    { name: 'quote', path: `quote/${quoteId}`, ready: /Ranked by price/ },
  ]
}

/** Opens each place at each of its screens, and checks what every page must fulfil. */
async function checkPlaces(places: readonly Place[], kind: keyof typeof SCREENS): Promise<void> {
  const findings: string[] = []
  for (const { width, colorScheme } of SCREENS[kind]) {
    const { page, open } = await stage.openPage({
      colorScheme,
      viewport: { width, height: width < 500 ? 844 : 900 },
    })
    // The link to the swap brings what the console cannot read without a wallet.
    if (kind === 'busy') {
      await open(stage.swapLink())
      await page.getByText('best of 3 offers').waitFor(PAGE_WAIT)
    }
    for (const { name, path, ready } of places) {
      const at = `${name} at ${width}, ${colorScheme}, ${kind}`
      await open(path)
      await page.getByText(ready).first().waitFor(PAGE_WAIT)
      const tooWide = await overflow(page)
      if (tooWide !== 0) findings.push(`${at} is ${tooWide} pixels too wide`)
      await takeScreenshot(page, `${name}-${width}-${colorScheme}-${kind}`)
      const serious = width === 1024 ? [] : await seriousFindings(page)
      findings.push(...serious.map((finding) => `${at}: ${finding}`))
    }
    // Each page asks for quotes as long as it is open.
    await page.context().close()
  }
  expect(findings).toEqual([])
}

/** Registers a solver again, with another name. */
async function rename(index: number, name: string): Promise<void> {
  const { serviceUrl, solvers } = stage.network
  const { account, endpointUrl = '' } = solvers[index] ?? expect.unreachable('the network has no such solver')
  const signed = await signRegistration(account, { chainId: 31337, endpointUrl, name })
  await createAggregatorClient({ baseUrl: serviceUrl }).registerSolver(signed)
}

describe.skipIf(!existsSync(CHROMIUM))(
  `the pages of the console (needs ${CHROMIUM})`,
  { timeout: 400_000 },
  () => {
    stage = useConsole({})

    it('are readable and fit where nothing has happened yet', async () => {
      await checkPlaces(emptyPlaces(), 'empty')
    })

    it('are readable and fit with orders, on a desk and on a phone, in both themes', async () => {
      await runScenario(stage.network, () => {})
      await rename(0, MARKUP)
      await rename(1, LONG_NAME)
      await checkPlaces(await busyPlaces(), 'busy')
    })

    it('show names and symbols of strangers as text, isolated, with the address', async () => {
      const deployer = createDevnetClient(stage.network.devnet, stage.network.user)
      const deployed = await deployer.deployContract({
        abi: testTokenAbi,
        bytecode: testTokenBytecode,
        args: ['A', '<b>\u05d0\u05d1"&amp;', 18],
      })
      const { contractAddress } = await mined(deployer, deployed)
      const { page, open } = await stage.openPage({
        account: stage.network.user.address,
        viewport: { width: 390, height: 844 },
      })
      // A symbol with a control of direction is no symbol, also from a link.
      await open(stage.swapLink({ sell: `${contractAddress}:18:\u202eCDSU` }))
      const token = page.locator('.token-button').first()
      await token.waitFor(PAGE_WAIT)
      expect(await token.innerText()).not.toContain('\u202e')
      await page.getByRole('button', { name: 'Connect wallet' }).click()
      await token.getByText('<b>\u05d0\u05d1"&amp;').waitFor(PAGE_WAIT)
      await open('solvers')
      const names = page.locator('.solvers bdi')
      await names.getByText(MARKUP).waitFor(PAGE_WAIT)
      expect(await names.getByText(LONG_NAME).count()).toBe(1)
      expect(await styleOf(names.first(), 'unicode-bidi')).toBe('isolate')
      const row = page.locator('.solvers').getByRole('row').filter({ hasText: MARKUP })
      expect(await row.locator('.solver-name').getAttribute('title')).toContain(
        stage.network.solvers[0]?.account.address,
      )
      expect(await page.title()).not.toBe('taken')
      await takeScreenshot(page, 'strangers')
    })

    it('are reached by the keyboard', async () => {
      const { page, open } = await stage.openPage()
      await open('market')
      for (const key of ['g', 'o']) await page.keyboard.press(key)
      await page.getByRole('heading', { name: 'Orders', exact: true }).waitFor(PAGE_WAIT)
      const rows = page.locator('tbody tr')
      await rows.first().waitFor(PAGE_WAIT)
      await rows.first().focus()
      for (const key of ['ArrowDown', 'ArrowUp', 'ArrowUp']) await page.keyboard.press(key)
      const id = await rows.first().locator('a[href^="#/order/"]').getAttribute('title')
      await page.keyboard.press('Enter')
      await page.getByRole('heading', { name: 'Timeline' }).waitFor(PAGE_WAIT)
      expect(page.url()).toContain(`#/order/${id}`)
      await page.keyboard.press('/')
      await page.keyboard.type('gm/')
      await page.keyboard.press('Enter')
      await page.getByText('This is no address, id, or name of an active solver or a token.').waitFor()
      await open(`order/${NO_ORDER}`)
      await page.getByRole('button', { name: 'Look again' }).press('Enter', PAGE_WAIT)
      expect(await page.locator('main').innerText()).toMatch(/^Order not found\s+0x0{64}\s/)
      await page.locator('main').getByRole('searchbox').fill(`${id}`)
      await page.keyboard.press('Enter')
      await page.getByRole('heading', { name: 'Timeline' }).waitFor(PAGE_WAIT)
      await open('nowhere')
      await page.getByRole('heading', { name: 'No page at this link' }).waitFor(PAGE_WAIT)
      // The pages beside the console have its search too.
      await page.goto(new URL('nowhere', page.url()).href)
      await page.getByRole('searchbox').fill(id ?? '')
      await page.keyboard.press('Enter')
      await page.getByRole('heading', { name: 'Timeline' }).waitFor(PAGE_WAIT)
    })

    it('show in forced colours what is current, what is filled, and what has the focus', async () => {
      const { page, open } = await stage.openPage({ colorScheme: 'dark', forcedColors: 'active' })
      await open('solvers')
      const background = await styleOf(page.locator('html'), 'background-color')
      const shown = async (element: Locator, property: string) =>
        (await styleOf(element, property)) !== background
      const link = (name: string) => page.getByRole('link', { name, exact: true })
      await page.getByRole('img', { name: 'Chain 31337 is ok' }).waitFor(PAGE_WAIT)
      expect([
        await shown(link('Solvers'), 'border-bottom-color'),
        await shown(link('Swap'), 'border-bottom-color'),
        await shown(page.locator('.dot-ok'), 'background-color'),
        await shown(page.locator('.segments a[aria-current]'), 'background-color'),
      ]).toEqual([true, false, true, true])
      await open(stage.swapLink())
      await page.getByText('best of 3 offers').waitFor(PAGE_WAIT)
      const connect = page.getByRole('button', { name: 'Connect wallet' })
      expect(await styleOf(connect, 'color')).not.toBe(await styleOf(connect, 'background-color'))
      await connect.focus()
      expect(await shown(connect, 'outline-color')).toBe(true)
    })

    it('show a solver whose session has ended as not connected', async () => {
      const { page, open } = await stage.openPage()
      await stage.network.solvers[2]?.close()
      await open('solvers')
      await page.getByRole('row').filter({ hasText: 'Cosmo' }).getByText('not connected').waitFor(PAGE_WAIT)
    })

    it('are joined by the reference at /docs, whose first steps run', async () => {
      const { serviceUrl } = stage.network
      const { page } = await stage.openPage({ colorScheme: 'dark', viewport: { width: 390, height: 900 } })
      await page.goto(`${serviceUrl}/docs`)
      const operation = page.locator('.opblock', { hasText: '/v1/{chainId}/quote' }).first()
      await operation.waitFor(PAGE_WAIT)
      const { paths, webhooks } = generatedDocument('openapi.json')
      const operations = Object.values<object>({ ...paths, ...webhooks }).flatMap((each) => Object.keys(each))
      expect(await page.locator('.opblock').count()).toBe(operations.length)
      const step = page.locator('.steps li', { hasText: 'Ask for a price' })
      await step.getByText(`curl ${serviceUrl}/v1/31337/price`).waitFor()
      await step.getByRole('button', { name: 'Run it' }).click()
      await step.getByText(/"(best|error)": /).waitFor(PAGE_WAIT)
      await operation.locator('.opblock-summary-control').click()
      await operation.locator('.responses-inner').waitFor()
      expect(await seriousFindings(page)).toEqual([])
      expect(await overflow(page)).toBe(0)
    })
  },
)
