import { existsSync } from 'node:fs'
import { describe, expect, it } from 'vitest'
import { send } from '../../../packages/cli/src/devnet/deploy.js'
import { setHidden } from '../../support/console/console.js'
import { button, PAGE_WAIT, steps, useConsole } from '../../support/console/swap-page.js'
import { deferred } from '../../support/deferred.js'
import { eventually } from '../../support/eventually.js'
import { CHROMIUM } from '../../support/packages/chromium.js'

/** Longer than the time from one round of quotes to the next. */
const REFRESH_MS = 20_000

describe.skipIf(!existsSync(CHROMIUM))(
  `the offer that a wallet is asked for (needs ${CHROMIUM})`,
  { timeout: 90_000 },
  () => {
    const stage = useConsole({ POLL_INTERVAL_MS_31337: '100', DEFAULT_DEPOSIT_WINDOW: '120' })

    it('is the one that the page shows, once, whatever happens while the wallet asks, and another tab knows of it', async () => {
      const { contracts, user, serviceUrl } = stage.network
      await send(stage.user(), contracts.weth, 'approve', [contracts.settlement, 2n ** 255n])
      const answered = deferred()
      const sent: string[] = []
      const { page, open } = await stage.openPage({
        account: user.address,
        answer: async (method, params) => {
          if (method !== 'eth_sendTransaction') return undefined
          sent.push((params[0] as { to: string }).to.toLowerCase())
          await answered.opened
          return undefined
        },
      })
      await page.clock.install()
      const rounds: string[] = []
      page.on('request', (request) => {
        if (request.url().includes('StreamQuotes')) rounds.push(request.url())
      })
      await open(stage.swapLink())
      await button(page, 'Connect wallet').click(PAGE_WAIT)
      await button(page, 'Swap').dblclick(PAGE_WAIT)
      await steps(page).getByText('Confirm the deposit in your wallet').waitFor(PAGE_WAIT)
      await eventually(
        async () => sent,
        ({ length }) => length > 0,
      )
      const link = page.locator('.checklist .facts a[href*="#/order/"]')
      const orderId = (await link.getAttribute('title')) ?? ''
      const roundsBefore = rounds.length
      expect(roundsBefore).toBeGreaterThan(0)

      await page.clock.runFor(REFRESH_MS)
      await page.keyboard.press('Enter')
      await page.getByRole('link', { name: 'Market' }).click()
      await page.clock.runFor(REFRESH_MS)
      await page.getByRole('link', { name: 'Swap', exact: true }).click()
      await steps(page).getByText('Confirm the deposit in your wallet').waitFor(PAGE_WAIT)
      expect(await link.getAttribute('title')).toBe(orderId)
      expect(await button(page, /Back to the quotes|New swap|^Swap$/).count()).toBe(0)

      const other = await page.context().newPage()
      await other.goto(`${serviceUrl}/#/swap`)
      const own = other.getByRole('region', { name: 'Your swaps in this browser' })
      await own.locator(`a[href*="${orderId}"]`).first().waitFor(PAGE_WAIT)

      expect(rounds).toHaveLength(roundsBefore)
      answered.open()
      await eventually(
        async () =>
          (await (await fetch(`${serviceUrl}/v1/31337/order/${orderId}`)).json()) as { state: string },
        ({ state }) => state === 'SETTLED',
      )
      expect(sent).toEqual([contracts.settlement.toLowerCase()])
    })

    it('is none of before ten minutes of sleep: a click as the page wakes sends nothing', async () => {
      const sent: string[] = []
      const { page, open } = await stage.openPage({
        account: stage.network.user.address,
        answer: (method) => {
          if (method === 'eth_sendTransaction' || method === 'wallet_sendCalls') sent.push(method)
          return undefined
        },
      })
      await open(stage.swapLink())
      await button(page, 'Connect wallet').click(PAGE_WAIT)
      await button(page, 'Swap').waitFor(PAGE_WAIT)
      await setHidden(page, true)
      await stage.passTime(page, 600)
      // Before the page has drawn anything, as a user does who aims at what was there.
      await page.evaluate(`document.querySelector('button.main-action').click()`)
      await page.getByRole('alert').getByText('This quote must not be taken').waitFor(PAGE_WAIT)
      await setHidden(page, false)
      expect(sent).toEqual([])
    })
  },
)
