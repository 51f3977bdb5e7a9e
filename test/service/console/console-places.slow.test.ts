import { existsSync } from 'node:fs'
import type { Page } from 'playwright-core'
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from 'vitest'
import { solverAccounts, startChain, type TestChain, user } from '../../support/chain/chain.js'
import { createTraffic } from '../../support/chain/event-traffic.js'
import { type ConsoleBrowser, type ConsolePage, startBrowser } from '../../support/console/console.js'
import { eventually } from '../../support/eventually.js'
import { CHROMIUM } from '../../support/packages/chromium.js'
import { startEventService } from '../../support/service/event-service.js'
import type { TestService } from '../../support/service/service.js'

const START_MS = 120_000
const PAGE_WAIT = { timeout: 30_000 }
const ORDERS = [30, 2] as const

let chains: [TestChain, TestChain]
/** The ids of the orders of each chain. */
let orderIds: string[][]
let service: TestService
let browser: ConsoleBrowser

async function openConsole(options: Parameters<ConsoleBrowser['openPage']>[1] = {}): Promise<ConsolePage> {
  const opened = await browser.openPage(service.url, options)
  onTestFinished(() => opened.page.context().close())
  return opened
}

/** The orders in the table, once it has this many. */
async function listedOrders(page: Page, count: number): Promise<(string | null)[]> {
  const links = page.locator('tbody a[href^="#/order/"]')
  await eventually(
    () => links.count(),
    (found) => found === count,
  )
  return links.evaluateAll((all) => all.map((link) => link.getAttribute('title')))
}

/** Deposits orders on a chain, all in one block. @returns their ids, sorted */
async function deposit(chain: TestChain, count: number): Promise<string[]> {
  const traffic = await createTraffic(chain, { seed: chain.chainId })
  const orders = Array.from({ length: count }, () => traffic.order())
  await traffic.mine(orders.map((order) => traffic.actions.deposit(order)))
  return orders.map(({ orderId }) => orderId).sort()
}

describe.skipIf(!existsSync(CHROMIUM))(
  `places of the console (needs ${CHROMIUM})`,
  { timeout: 90_000 },
  () => {
    beforeAll(async () => {
      browser = await startBrowser()
      chains = await Promise.all([startChain({ bonded: 0 }), startChain({ chainId: 31338, bonded: 0 })])
      service = await startEventService(chains, { VERIFY_MAX: 'off' })
      orderIds = await Promise.all(chains.map((chain, index) => deposit(chain, ORDERS[index] ?? 0)))
      for (const [index, { chainId }] of chains.entries())
        await eventually(
          async () => (await service.get(`/v1/${chainId}/orders`)).body.orders.length,
          (count) => count === ORDERS[index],
        )
    }, START_MS)
    afterAll(async () => {
      await browser?.close()
      await service?.close()
      await Promise.all((chains ?? []).map((chain) => chain.stop()))
    })

    it('keep the page of a list of orders in the URL', async () => {
      const { page, open } = await openConsole()
      await open('orders')
      const first = await listedOrders(page, 25)
      await page.getByRole('link', { name: 'Older' }).click()
      const second = await listedOrders(page, 5)
      expect([...first, ...second].sort()).toEqual(orderIds[0])
      expect(page.url()).toMatch(/[?&]page=./)
      expect(await page.getByRole('link', { name: 'Older' }).count()).toBe(0)

      const other = await openConsole()
      await other.page.goto(page.url())
      expect(await listedOrders(other.page, 5)).toEqual(second)
      await page.getByRole('link', { name: 'Newest' }).click()
      expect(await listedOrders(page, 25)).toEqual(first)
      await page.goBack()
      expect(await listedOrders(page, 5)).toEqual(second)
    })

    it('filter orders by state and by the addresses of a link, which a click removes', async () => {
      const { page, open } = await openConsole({ viewport: { width: 390, height: 844 } })
      await open(`orders?user=0x${'1'.repeat(40)}&solver=${solverAccounts[0].address}`)
      await page.getByText('No orders match these filters.').waitFor(PAGE_WAIT)
      await page.getByRole('link', { name: 'Remove the filter user' }).click()
      await page.getByRole('link', { name: 'Remove the filter solver' }).click()
      await listedOrders(page, 25)
      const states = page.getByRole('navigation', { name: 'State of the orders' })
      await states.getByRole('link', { name: 'settled' }).click()
      await page.waitForURL(/state=settled/)
      await states.getByRole('link', { name: 'all' }).click()
      await page.waitForURL((url) => !url.hash.includes('state'))
    })

    it('show 25 orders on a phone in few screens, each in two lines', async () => {
      const { page, open } = await openConsole({ viewport: { width: 390, height: 844 } })
      await open('orders')
      await listedOrders(page, 25)
      expect(await page.evaluate('document.documentElement.scrollHeight')).toBeLessThan(1600)
    })

    it('that do not exist say so', async () => {
      const { page, open } = await openConsole()
      await open('nonsense')
      await page.getByText('There is no such page').waitFor(PAGE_WAIT)
      expect(await page.title()).toContain('No such page')
      await open('')
      await page.getByRole('heading', { name: 'Swap' }).waitFor(PAGE_WAIT)
    })

    it('keep the chain that the user has chosen in the URL', async () => {
      const { page, open } = await openConsole()
      await open('market')
      const select = page.getByRole('combobox', { name: 'Chain' })
      await select.selectOption('31338')
      await page.waitForURL(/chain=31338/)
      await page.getByRole('link', { name: 'Orders', exact: true }).click()
      expect((await listedOrders(page, 2)).sort()).toEqual(orderIds[1])
      expect(page.url()).toContain('chain=31338')
      await page.reload()
      await listedOrders(page, 2)
      await page.keyboard.press('g')
      await page.keyboard.press('v')
      await page.getByRole('heading', { name: 'Solvers' }).waitFor(PAGE_WAIT)
      expect(page.url()).toContain('chain=31338')

      // An order belongs to its chain.
      await open(`order/${orderIds[1]?.[0]}?chain=31338`)
      await page.getByRole('heading', { name: 'Timeline' }).waitFor(PAGE_WAIT)
      await select.selectOption('31337')
      expect((await listedOrders(page, 25)).length).toBe(25)
      expect(page.url()).not.toContain('chain=')
    })

    it('of an order show the deposit address of a swap only on the chain of the swap', async () => {
      const { page, open } = await openConsole()
      const orderId = `0x${'5'.repeat(64)}`
      const quote = {
        user: orderId.slice(0, 42),
        inputAmount: '5',
        outputAmount: '5',
        nonce: '1',
        depositDeadline: 4e9,
        fillDeadline: 4e9,
      }
      const swap = {
        chainId: 31337,
        orderId,
        quoteId: '5e1f0000-0000-4000-8000-000000000000',
        signedQuote: { quote, orderId, depositAddress: orderId.slice(0, 42) },
        isBegun: true,
      }
      await open('market')
      // A storage that something else has written must not break the page.
      const stored = JSON.stringify([null, 5, { chainId: 'x' }, swap])
      await page.evaluate(`localStorage.setItem('swaps', ${JSON.stringify(stored)})`)
      await page.reload()
      const address = page.getByRole('region', { name: 'Deposit address' })
      await open(`order/${orderId}`)
      await address.getByText('Send exactly').waitFor(PAGE_WAIT)
      await open(`order/${orderId}?chain=31338`)
      await page.getByText('The contract does not know this order.').waitFor(PAGE_WAIT)
      expect(await address.count()).toBe(0)
    })

    it('of an unknown chain or state are not shown as if they were others', async () => {
      const { page, open } = await openConsole()
      await open('market?chain=999')
      await page.getByText('This instance does not serve the chain 999.').waitFor(PAGE_WAIT)
      expect(await page.getByRole('heading', { name: 'Events' }).count()).toBe(0)
      await page.getByRole('link', { name: 'Show the market' }).click()
      await page.getByRole('heading', { name: 'Events' }).waitFor(PAGE_WAIT)
      await open('orders?state=lost')
      await listedOrders(page, 25)
      expect(await page.getByRole('link', { name: /Remove the filter/ }).count()).toBe(0)
      await open('orders?user=0x12')
      await page.getByText('The request is not valid: user must be').waitFor(PAGE_WAIT)
    })

    it('are reached by their keys, and rows of tables by arrows and Enter', async () => {
      const { page, open } = await openConsole()
      await open('orders')
      await listedOrders(page, 25)
      const titles = { s: 'Swap', m: 'Market', v: 'Solvers', o: 'Orders' }
      for (const [key, title] of Object.entries(titles)) {
        await page.keyboard.press('g')
        await page.keyboard.press(key)
        await page.getByRole('heading', { name: title, exact: true }).waitFor(PAGE_WAIT)
      }
      await listedOrders(page, 25)
      const rows = page.locator('tbody tr')
      const focused = () =>
        page.evaluate("[...document.querySelectorAll('tbody tr')].indexOf(document.activeElement)")
      await rows.first().focus()
      for (const key of ['ArrowDown', 'ArrowDown', 'ArrowUp']) await page.keyboard.press(key)
      expect(await focused()).toBe(1)
      for (const key of ['ArrowUp', 'ArrowUp']) await page.keyboard.press(key)
      expect(await focused()).toBe(0)
      const id = await rows.first().locator('a[href^="#/order/"]').getAttribute('title')
      await page.keyboard.press('Enter')
      await page.getByRole('heading', { name: 'Timeline' }).waitFor(PAGE_WAIT)
      expect(page.url()).toContain(`#/order/${id}`)

      await page.keyboard.press('/')
      await page.keyboard.type('gm/')
      expect(await page.getByRole('searchbox').inputValue()).toBe('gm/')
      expect(page.url()).toContain(`#/order/${id}`)
      await page.keyboard.press('Escape')
      await page.keyboard.press('g')
      await page.keyboard.press('x')
      await page.keyboard.press('m')
      expect(page.url()).toContain(`#/order/${id}`)
    })

    it('ask for no check by the contract where the instance allows none', async () => {
      const [{ devnet, contracts }] = chains
      const { page, open } = await openConsole({ wallet: { rpcUrl: devnet.rpcUrl, account: user.address } })
      await open(`swap?sell=${contracts.weth}:18:WETH&buy=${contracts.usdc}:6:USDC&amount=1`)
      await page.getByRole('button', { name: 'Connect wallet' }).click(PAGE_WAIT)
      // A refused request would have no round that ends.
      await page.locator('.notice', { hasText: 'No solver is active on this chain.' }).waitFor(PAGE_WAIT)
      expect(await page.getByText('asking').count()).toBe(0)
      expect(await page.getByText(/verify/).count()).toBe(0)
    })
  },
)
