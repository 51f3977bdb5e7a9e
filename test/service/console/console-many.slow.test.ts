import { existsSync } from 'node:fs'
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from 'vitest'
import { startChain, type TestChain } from '../../support/chain/chain.js'
import { type ChattySettlement, deployChattySettlement } from '../../support/chain/chatty-settlement.js'
import { type ConsoleBrowser, startBrowser, takeScreenshot } from '../../support/console/console.js'
import { eventually } from '../../support/eventually.js'
import { CHROMIUM } from '../../support/packages/chromium.js'
import { startEventService } from '../../support/service/event-service.js'
import type { TestService } from '../../support/service/service.js'

const START_MS = 120_000
const PAGE_WAIT = { timeout: 30_000 }
const ORDERS = 4000

let chain: TestChain
let chatty: ChattySettlement
let service: TestService
let browser: ConsoleBrowser

describe.skipIf(!existsSync(CHROMIUM))(
  `the console with thousands of orders (needs ${CHROMIUM})`,
  { timeout: 90_000 },
  () => {
    beforeAll(async () => {
      ;[chain, browser] = await Promise.all([startChain({ bonded: 0 }), startBrowser()])
      chatty = await deployChattySettlement(chain.devnet, chain.contracts.bondToken)
      const contracts = { ...chain.contracts, settlement: chatty.address }
      const environment = { [`START_BLOCK_${chain.chainId}`]: '1', RATE_LIMIT_ORDER: '0' }
      service = await startEventService([{ ...chain, contracts }], environment)
      const { toBlock } = await chatty.emitEvents({ events: ORDERS })
      await eventually(
        async () => (await service.get(`/v1/${chain.chainId}/orders?pageSize=1`)).body.orders[0],
        (order) => JSON.stringify(order ?? '').includes(`"blockNumber":${toBlock}`),
      )
    }, START_MS)
    afterAll(async () => {
      await browser?.close()
      await service?.close()
      await chain?.stop()
    })

    async function openPlace(place: string) {
      const { page, open } = await browser.openPage(service.url)
      onTestFinished(() => page.context().close())
      await open(place)
      return page
    }

    it('goes from page to page by the keyboard, each at its top, and back', async () => {
      const page = await openPlace('orders')
      const ids = () =>
        page
          .locator('tbody tr td:last-child a')
          .evaluateAll((all) => all.map((link) => link.getAttribute('title')))
      const focused = () => page.evaluate('document.activeElement.innerText')
      await page.locator('tbody tr').first().waitFor(PAGE_WAIT)
      const first = await ids()
      const seen = new Set(first)
      for (let count = 1; count < 10; count++) {
        const older = page.getByRole('link', { name: 'Older →' })
        await older.focus(PAGE_WAIT)
        await page.keyboard.press('Enter')
        await eventually(focused, (text) => text === 'Orders')
        const found = await eventually(ids, ([id]) => id !== undefined && id !== null && !seen.has(id))
        for (const id of found) seen.add(id)
        expect(await page.evaluate('scrollY')).toBe(0)
      }
      expect(seen.size).toBe(250)
      await takeScreenshot(page, 'orders-page-10')
      await page.getByRole('link', { name: '← Newest' }).click(PAGE_WAIT)
      expect(await eventually(ids, ([id]) => id === first[0])).toEqual(first)
    })
  },
)
