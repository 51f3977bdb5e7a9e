import { existsSync } from 'node:fs'
import type { Page } from 'playwright-core'
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from 'vitest'
import { startChain, type TestChain } from '../../support/chain/chain.js'
import { createTraffic, type Traffic } from '../../support/chain/event-traffic.js'
import type { Order } from '../../support/chain/order-actions.js'
import { type ConsoleBrowser, startBrowser, takeScreenshot } from '../../support/console/console.js'
import { makeDatabase } from '../../support/databases/postgres-database.js'
import { eventually } from '../../support/eventually.js'
import { startCable } from '../../support/faults/cable.js'
import { CHROMIUM } from '../../support/packages/chromium.js'
import { type ReplicaProcesses, startReplicaProcesses } from '../../support/replicas/replica-processes.js'

const PAGE_WAIT = { timeout: 30_000 }
const START_MS = 120_000
const LOST = /^Connection lost\. The console is reconnecting\. Last update: \d+ s ago\.$/

let chain: TestChain
let traffic: Traffic
let browser: ConsoleBrowser

/** Two replicas of the built service on a database of their own. */
async function startReplicas(): Promise<ReplicaProcesses> {
  const { url, drop } = await makeDatabase()
  onTestFinished(drop)
  const environment = { [`POLL_INTERVAL_MS_${chain.chainId}`]: '50' }
  const fleet = await startReplicaProcesses(chain, url, { size: 2, environment })
  onTestFinished(() => fleet.stop())
  return fleet
}

/** Opens the market, and waits until its stream of events is open. */
async function openMarket(url: string): Promise<Page> {
  const page = await openPlace(url, 'market')
  await page.locator('.panel-head .state', { hasText: 'live' }).waitFor(PAGE_WAIT)
  return page
}

async function openPlace(url: string, place: string): Promise<Page> {
  const { page, open } = await browser.openPage(url)
  onTestFinished(() => page.context().close())
  await open(place)
  return page
}

/** Mines a block for each new order, with its deposit. */
async function deposit(count: number): Promise<Order[]> {
  const orders = Array.from({ length: count }, () => traffic.order())
  for (const order of orders) await traffic.mine([traffic.actions.deposit(order)])
  return orders
}

/** Waits until the list of events has exactly the deposits of these orders from the stream, the last one first. */
async function expectTape(page: Page, orders: readonly Order[]): Promise<void> {
  // The list of orders shows events too. Only those of the stream are fresh.
  const links = page.locator('.event-list-line.fresh a[href^="#/order/"]')
  const expected = orders.map(({ orderId }) => orderId).toReversed()
  const read = () => links.evaluateAll((all) => all.map((link) => link.getAttribute('title')))
  expect(await eventually(read, ({ length }) => length >= expected.length)).toEqual(expected)
}

const lossOf = (page: Page) => page.locator('.connection-bar')

describe.skipIf(!existsSync(CHROMIUM))(
  `the console while instances end (needs ${CHROMIUM})`,
  { timeout: 90_000 },
  () => {
    beforeAll(async () => {
      ;[chain, browser] = await Promise.all([startChain({ bonded: 0 }), startBrowser()])
      traffic = await createTraffic(chain, { seed: 71 })
    }, START_MS)
    afterAll(async () => {
      await browser?.close()
      await chain?.stop()
    })

    it('shows that all replicas are killed, and has all events once one is back at its address', async () => {
      const fleet = await startReplicas()
      const [replica] = fleet.replicas
      if (replica === undefined) throw new Error('there is no replica')
      const page = await openMarket(replica.url)
      const before = await deposit(2)
      await expectTape(page, before)
      const story = await openPlace(replica.url, `order/${before[0]?.orderId}`)
      await story.getByRole('heading', { name: 'Timeline' }).waitFor(PAGE_WAIT)

      await fleet.stop()
      await page.getByText(LOST).waitFor(PAGE_WAIT)
      expect(await page.locator('.panel-head .state', { hasText: 'lost' }).count()).toBe(1)
      await page.getByRole('img', { name: `Chain ${chain.chainId} is unknown` }).waitFor({ timeout: 5000 })
      expect(await page.getByText('No orders yet.').count()).toBe(0)
      await takeScreenshot(page, 'replicas-killed')
      const missed = await deposit(3)

      // The order is read again in vain, more than once, and stays where it is.
      for (let failed = 0; failed < 2; failed++)
        await story.waitForEvent('requestfailed', {
          predicate: (request) => request.url().endsWith('/GetOrder'),
          ...PAGE_WAIT,
        })
      expect(await story.getByRole('alert').count()).toBe(0)

      await replica.start()
      await lossOf(page).waitFor({ state: 'hidden', ...PAGE_WAIT })
      await expectTape(page, [...before, ...missed])
      const after = await deposit(1)
      await expectTape(page, [...before, ...missed, ...after])
    })

    it('goes on at another replica, and strikes through what a reorganisation has removed meanwhile', async () => {
      const fleet = await startReplicas()
      const first = await fleet.leader()
      const second = fleet.after(first)
      const cable = await startCable(first.url)
      onTestFinished(() => cable.close())
      const page = await openMarket(cable.url)
      const [kept, removed] = (await deposit(2)) as [Order, Order]
      await expectTape(page, [kept, removed])

      await first.kill()
      await page.getByText(LOST).waitFor(PAGE_WAIT)
      const other = traffic.order()
      await traffic.reorganise(1, [[traffic.actions.deposit(other)]])
      cable.leadTo(second.url)
      await lossOf(page).waitFor({ state: 'hidden', ...PAGE_WAIT })
      await expectTape(page, [kept, removed, other])
      const struck = page.locator('.event-list-line.removed')
      await struck.getByText('a reorganisation took block').waitFor(PAGE_WAIT)
      expect(await struck.locator('a[href^="#/order/"]').getAttribute('title')).toBe(removed.orderId)
    })
  },
)
