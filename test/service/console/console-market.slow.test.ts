import { existsSync } from 'node:fs'
import type { Page } from 'playwright-core'
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from 'vitest'
import { solverAccounts } from '../../support/chain/chain.js'
import { createTraffic, type Traffic } from '../../support/chain/event-traffic.js'
import type { Order } from '../../support/chain/order-actions.js'
import { type ConsoleBrowser, startBrowser } from '../../support/console/console.js'
import { eventually } from '../../support/eventually.js'
import { startCable } from '../../support/faults/cable.js'
import { type ModelTestChain, startModelChain } from '../../support/model-chain/start-model-chain.js'
import { CHROMIUM } from '../../support/packages/chromium.js'
import { startService, type TestService } from '../../support/service/service.js'

const START_MS = 120_000
const PAGE_WAIT = { timeout: 60_000 }
const LOST = /^Connection lost\. The console is reconnecting\. Last update: \d+ s ago\.$/

let chains: [ModelTestChain, ModelTestChain]
let traffic: Traffic
/** The ids of the orders of the other chain. */
let others: string[]
let service: TestService
let browser: ConsoleBrowser

async function openPlace(place: string, url = service.url) {
  const { page, open } = await browser.openPage(url, { viewport: { width: 390, height: 844 } })
  onTestFinished(() => page.context().close())
  await open(place)
  return page
}

const isLive = (page: Page) => page.locator('.panel-head .state', { hasText: 'live' }).waitFor(PAGE_WAIT)

/** Mines a block for each new order, with its deposit. */
async function deposit(count: number): Promise<Order[]> {
  const orders = Array.from({ length: count }, () => traffic.order())
  for (const order of orders) await traffic.mine([traffic.actions.deposit(order)])
  return orders
}

/** Waits until the list of events ends with the deposits of these orders from the stream, the last one first. */
async function expectTape(page: Page, orders: readonly Order[]): Promise<void> {
  // The list of orders shows events too. Only those of the stream are fresh.
  const links = page.locator('.tape tr.fresh:not(:has(.removed)) a[href^="#/order/"]')
  const expected = orders.map(({ orderId }) => orderId).toReversed()
  const read = () => links.evaluateAll((all) => all.map((link) => link.getAttribute('title')))
  const found = await eventually(read, (ids) => ids[0] === expected[0] && ids.length >= expected.length)
  expect(found.slice(0, expected.length)).toEqual(expected)
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

describe.skipIf(!existsSync(CHROMIUM))(
  `events and orders in the console (needs ${CHROMIUM})`,
  { timeout: 180_000 },
  () => {
    beforeAll(async () => {
      browser = await startBrowser()
      chains = await Promise.all([
        startModelChain({ bonded: 0 }),
        startModelChain({ chainId: 31338, bonded: 0 }),
      ])
      service = await startService(chains)
      traffic = await createTraffic(chains[0], { seed: 71 })
      const other = await createTraffic(chains[1], { seed: 5 })
      const orders = [other.order(), other.order()]
      await other.mine(orders.map((order) => other.actions.deposit(order)))
      others = orders.map(({ orderId }) => orderId).sort()
    }, START_MS)
    afterAll(async () => {
      await browser?.close()
      await service?.close()
      await Promise.all((chains ?? []).map((chain) => chain.stop()))
    })

    it('are not lost while the instance cannot be reached, and an order that a reorganisation removes is struck through', async () => {
      const cable = await startCable(service.url)
      onTestFinished(() => cable.close())
      const page = await openPlace('market', cable.url)
      await isLive(page)
      const [kept, removed] = (await deposit(2)) as [Order, Order]
      await expectTape(page, [kept, removed])
      const story = await openPlace(`order/${kept.orderId}`, cable.url)
      await story.getByRole('heading', { name: 'Timeline' }).waitFor(PAGE_WAIT)
      expect(await story.locator('.timeline-name').allInnerTexts()).toEqual([
        'Deposited by contract call',
        expect.stringMatching(/^Fill deadline in \d/),
      ])
      cable.silence()
      cable.cut()
      await page.getByText(LOST).waitFor(PAGE_WAIT)
      await page.getByRole('img', { name: 'Chain 31337 is unknown' }).waitFor(PAGE_WAIT)
      const other = traffic.order()
      await traffic.reorganise(1, [[traffic.actions.deposit(other)]])
      cable.restore()
      await page.locator('.connection-bar').waitFor({ state: 'hidden', ...PAGE_WAIT })
      const gone = page.getByRole('row').filter({ has: page.getByTitle(removed.orderId) })
      await gone.getByText('Removed by a reorganisation').waitFor(PAGE_WAIT)
      await expectTape(page, [kept, other])
      expect(await story.getByRole('alert').count()).toBe(0)
    })

    it('have places that a link shows again: page, filters, state and chain', async () => {
      await traffic.mine(Array.from({ length: 30 }, () => traffic.actions.deposit(traffic.order())))
      const page = await openPlace(`orders?user=0x${'1'.repeat(40)}&solver=${solverAccounts[0].address}`)
      await page.getByText('No orders match these filters.').waitFor(PAGE_WAIT)
      for (const name of ['user', 'solver'])
        await page.getByRole('link', { name: `Remove the filter ${name}` }).click()
      const first = await listedOrders(page, 25)
      // 25 orders, each in two lines.
      expect(await page.evaluate('document.documentElement.scrollHeight')).toBeLessThan(1600)
      const older = page.getByRole('link', { name: 'Older' })
      await older.focus(PAGE_WAIT)
      await page.keyboard.press('Enter')
      await page.waitForURL(/[?&]page=./)
      await eventually(
        () => page.evaluate('document.activeElement.innerText'),
        (text) => text === 'Orders',
      )
      const ids = () =>
        page
          .locator('tbody a[href^="#/order/"]')
          .evaluateAll((all) => all.map((a) => a.getAttribute('title')))
      const second = await eventually(ids, ([id]) => id !== undefined && !first.includes(id))
      const copy = await openPlace(new URL(page.url()).hash.slice(2))
      expect((await listedOrders(copy, second.length))[0]).toBe(second[0])
      await page.getByRole('link', { name: 'Newest' }).click()
      expect(await eventually(ids, ([id]) => id === first[0])).toEqual(first)
      const states = page.getByRole('navigation', { name: 'State of the orders' })
      await states.getByRole('link', { name: 'settled' }).click()
      await page.waitForURL(/state=settled/)

      const select = page.getByRole('combobox', { name: 'Chain' })
      await select.selectOption('31338')
      await page.waitForURL(/chain=31338/)
      expect((await listedOrders(page, 2)).sort()).toEqual(others)
      await page.reload()
      await listedOrders(page, 2)
      // An order belongs to its chain.
      // Its middle has the link to the solver.
      await page
        .locator('tbody a[href^="#/order/"]')
        .first()
        .click({ position: { x: 8, y: 8 } })
      await page.getByRole('heading', { name: 'Timeline' }).waitFor(PAGE_WAIT)
      await select.selectOption('31337')
      await listedOrders(page, 25)
      expect(page.url()).not.toContain('chain=')
      await page.goto(`${service.url}/#/market?chain=999`)
      await page.getByText('This instance does not serve the chain 999.').waitFor(PAGE_WAIT)
    })
  },
)
