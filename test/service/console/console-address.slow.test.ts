import { existsSync } from 'node:fs'
import { readFile } from 'node:fs/promises'
import type { Page } from 'playwright-core'
import { describe, expect, it } from 'vitest'
import { send } from '../../../packages/cli/src/devnet/deploy.js'
import { balanceOf } from '../../../packages/cli/src/devnet/user-steps.js'
import { button, look, PAGE_WAIT, useConsole } from '../../support/console/swap-page.js'
import { eventually } from '../../support/eventually.js'
import { CHROMIUM } from '../../support/packages/chromium.js'

/** Says that the risks are read, and gets the address. */
async function getAddress(page: Page): Promise<void> {
  await page.getByRole('checkbox').check(PAGE_WAIT)
  await button(page, 'Get the deposit address').click(PAGE_WAIT)
}

/** Saves what a refund needs, after which the address is shown. */
const saveQuote = (page: Page) =>
  page.locator('.send').getByRole('link', { name: 'Save the signed quote' }).click(PAGE_WAIT)

describe.skipIf(!existsSync(CHROMIUM))(
  `a swap by deposit address in the console (needs ${CHROMIUM})`,
  { timeout: 180_000 },
  () => {
    const stage = useConsole()
    const account = () => stage.network.user.address

    it('has an address with a QR code, also after the page is loaded again, and an order once someone has paid', async () => {
      const { page, open } = await stage.openPage()
      await open(stage.swapLink({ for: account(), mode: 'address' }))
      const get = button(page, 'Get the deposit address')
      await get.waitFor(PAGE_WAIT)
      expect(await get.isEnabled()).toBe(false)
      await getAddress(page)
      const section = page.getByRole('region', { name: 'Deposit address' })
      await section.getByText('This address is not checked').waitFor()
      const code = section.getByRole('img', { name: 'QR code of the deposit address' })
      const place = section.locator('.send li > code')
      await page.setViewportSize({ width: 390, height: 844 })
      const heightOf = async (place: string) => (await section.locator(place).boundingBox())?.y ?? Number.NaN
      expect(await heightOf('.risks')).toBeLessThan(await heightOf('.send'))
      expect([await place.count(), await code.count()]).toEqual([0, 0])
      const saving = page.waitForEvent('download')
      await saveQuote(page)
      const address = await place.innerText()
      expect(JSON.parse(await readFile(await (await saving).path(), 'utf8'))).toMatchObject({
        depositAddress: address.replaceAll(/\s/g, ''),
      })
      await look(page, 'deposit-address')
      await page.reload()
      const own = page.getByRole('region', { name: 'Your swaps in this browser' })
      await own.getByRole('link').click(PAGE_WAIT)
      await saveQuote(page)
      await code.waitFor(PAGE_WAIT)
      expect(await section.getByText(address, { exact: true }).count()).toBe(1)
      const { weth } = stage.network.contracts
      await send(stage.user(), weth, 'transfer', [address as `0x${string}`, 10n ** 18n])
      await page.locator('.hero-state').getByText('settled').waitFor(PAGE_WAIT)
    })

    it('shows no address of an offer by contract, in the frame in which the user has chosen an address', async () => {
      const { page, open } = await stage.openPage({ account: account() })
      await open(stage.swapLink())
      await button(page, 'Connect wallet').click(PAGE_WAIT)
      await page.locator('.main-action').getByText('Swap').waitFor(PAGE_WAIT)
      await page.evaluate(`{
        const click = () => {
          document.querySelector('.tick input:not(:checked)')?.click()
          const found = [...document.querySelectorAll('button.main-action')].find((one) => /^Get the deposit/.test(one.textContent))
          if (found && !found.disabled) found.click()
        }
        new MutationObserver(click).observe(document.body, { subtree: true, childList: true, attributes: true })
      }`)
      await page.getByRole('radio', { name: 'to an address' }).check()
      await page.getByRole('region', { name: 'Deposit address' }).waitFor(PAGE_WAIT)
      const [swap] = JSON.parse(await page.evaluate(`localStorage.getItem('swaps')`))
      const url = `${stage.network.serviceUrl}/v1/31337/quote/${swap.quoteId}`
      const record = await eventually(
        async () => (await (await fetch(url)).json()) as { request?: { depositMode: string } },
        ({ request }) => request !== undefined,
      )
      expect(record.request?.depositMode).toBe('ADDRESS')
    })
  },
)

// Kit solvers have few unused quotes for addresses at a time.
describe.skipIf(!existsSync(CHROMIUM))(
  `a deposit address that is over (needs ${CHROMIUM})`,
  { timeout: 180_000 },
  () => {
    const stage = useConsole()
    const account = () => stage.network.user.address

    it('has no address to pay once the wallet reads that it was settled, while the instance is silent', async () => {
      const { contracts, serviceUrl } = stage.network
      const { page, open } = await stage.openPage({ account: account() })
      await open(stage.swapLink())
      await button(page, 'Connect wallet').click(PAGE_WAIT)
      await page.getByRole('radio', { name: 'to an address' }).check()
      await getAddress(page)
      const section = page.getByRole('region', { name: 'Deposit address' })
      await section.getByText('Send exactly').waitFor(PAGE_WAIT)
      const [{ signedQuote }] = JSON.parse(await page.evaluate(`localStorage.getItem('swaps')`))
      await page.route(`${serviceUrl}/**`, (route) => route.abort())
      const { depositAddress, quote } = signedQuote
      await send(stage.user(), contracts.weth, 'transfer', [depositAddress, BigInt(quote.inputAmount)])
      await section.getByText('Send nothing to this address').waitFor(PAGE_WAIT)
    })

    // It moves the time of the chain on, so that solvers offer nothing after it.
    it('gives the tokens back through the wallet when no solver has filled it', async () => {
      const { weth } = stage.network.contracts
      const { page, open } = await stage.openPage({ account: account() })
      stage.pauseBestSolver()
      await open(stage.swapLink({ for: account(), mode: 'address' }))
      await getAddress(page)
      await saveQuote(page)
      const address = await page.locator('.send li > code').first().innerText()
      await send(stage.user(), weth, 'transfer', [address as `0x${string}`, 10n ** 18n])
      await stage.passTime(page, 250)
      await page.getByText('Send nothing to this address any more.').waitFor(PAGE_WAIT)
      await page.getByRole('link', { name: 'See the order' }).click()
      const deposit = page.getByRole('region', { name: 'Deposit address' })
      await deposit.getByText('The solver has not filled this order in time.').waitFor(PAGE_WAIT)
      const before = await balanceOf(stage.user(), weth)
      await button(page, 'Connect wallet').click()
      await deposit.getByText("of the solver's bond").waitFor(PAGE_WAIT)
      await look(page, 'address-refund')
      await button(page, 'Refund').click()
      await page.locator('.hero-state').getByText('ended without a fill').waitFor(PAGE_WAIT)
      expect((await balanceOf(stage.user(), weth)) - before).toBe(10n ** 18n)
      await deposit.getByText('Nothing can be taken back now.').waitFor(PAGE_WAIT)
    })
  },
)
