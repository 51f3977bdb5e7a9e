import { existsSync } from 'node:fs'
import { describe, expect, it } from 'vitest'
import { send } from '../../../packages/cli/src/devnet/deploy.js'
import { button, look, PAGE_WAIT, steps, useConsole } from '../../support/console/swap-page.js'
import { REFUSED, type WalletAnswer } from '../../support/console/wallet.js'
import { eventually } from '../../support/eventually.js'
import { CHROMIUM } from '../../support/packages/chromium.js'

const refuseTransactions: WalletAnswer = (method) => (method === 'eth_sendTransaction' ? REFUSED : undefined)

describe.skipIf(!existsSync(CHROMIUM))(
  `the way back to a swap in the console (needs ${CHROMIUM})`,
  { timeout: 90_000 },
  () => {
    const stage = useConsole()
    const account = () => stage.network.user.address

    it('leads back to a pending deposit after the page is loaded again, with the wallet', async () => {
      const node = stage.node()
      stage.pauseBestSolver()
      await send(stage.user(), stage.network.contracts.weth, 'approve', [
        stage.network.contracts.settlement,
        2n ** 255n,
      ])
      const { page, open } = await stage.openPage({
        account: account(),
        async answer(method) {
          if (method === 'eth_sendTransaction') await stage.holdBlocks()
          return undefined
        },
      })
      await stage.swap({ page, open })
      await steps(page).getByText('Waiting until the deposit is mined').waitFor(PAGE_WAIT)
      await page.reload()
      await steps(page).getByText('Waiting until the deposit is mined').waitFor(PAGE_WAIT)
      // The wallet is connected again.
      await button(page, 'Look again').waitFor(PAGE_WAIT)
      await button(page, 'Back to the quotes').click()
      const own = page.getByRole('region', { name: 'Your swaps in this browser' })
      await own.getByText('waiting').waitFor(PAGE_WAIT)
      await look(page, 'own-swaps')
      await own.getByRole('link').click()
      await page.getByText('The order appears here once its deposit is mined.').waitFor(PAGE_WAIT)
      await button(page, 'Copy transaction').waitFor()
      await look(page, 'order-pending')
      await node.mine({ blocks: 1 })
      await page.locator('.hero-state').getByText('deposited').waitFor(PAGE_WAIT)
    })

    it('shows a deposit address again after the page is loaded again', async () => {
      const { page, open } = await stage.openPage()
      await open(stage.swapLink({ for: account(), mode: 'address' }))
      await button(page, 'Get the deposit address').click(PAGE_WAIT)
      const section = page.getByRole('region', { name: 'Deposit address' })
      const address = await section.locator('.whole-address code').nth(1).innerText()
      await page.reload()
      await page
        .getByRole('region', { name: 'Your swaps in this browser' })
        .getByRole('link')
        .click(PAGE_WAIT)
      await section.getByRole('img', { name: 'QR code of the deposit address' }).waitFor(PAGE_WAIT)
      expect(await section.getByText(address, { exact: true }).count()).toBe(1)
      await look(page, 'order-deposit-address')
    })

    it('shows no address of an offer by contract, in the frame in which the user has chosen an address', async () => {
      const { page, open } = await stage.openPage()
      await open(stage.swapLink({ for: stage.network.user.address }))
      await page.locator('.ranking tbody tr').first().waitFor(PAGE_WAIT)
      await page.evaluate(`{
        const click = () => {
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

    it('has no address to pay once the wallet reads that it was settled, while the instance is silent', async () => {
      const { contracts, user, serviceUrl } = stage.network
      const { page, open } = await stage.openPage({ account: user.address })
      await open(stage.swapLink({ mode: 'address' }))
      await page.getByText('Connect a wallet to have').click(PAGE_WAIT)
      await button(page, 'Connect wallet').last().click(PAGE_WAIT)
      await button(page, 'Get the deposit address').click(PAGE_WAIT)
      const section = page.getByRole('region', { name: 'Deposit address' })
      await section.getByText('Send exactly').waitFor(PAGE_WAIT)
      const [{ signedQuote }] = JSON.parse(await page.evaluate(`localStorage.getItem('swaps')`))
      await page.route(`${serviceUrl}/**`, (route) => route.abort())
      const { depositAddress, quote } = signedQuote
      await send(stage.user(), contracts.weth, 'transfer', [depositAddress, BigInt(quote.inputAmount)])
      await section.getByText('Send nothing to this address').waitFor(PAGE_WAIT)
    })

    it('keeps the focus when a change of the page removes what had it', async () => {
      const { page, open } = await stage.openPage({ account: account(), answer: refuseTransactions })
      const focused = () => page.evaluate('document.activeElement.id || document.activeElement.className')
      await open(stage.swapLink())
      await button(page, 'Connect wallet').click(PAGE_WAIT)
      await eventually(focused, (name) => name === 'wallet-place')
      await button(page, 'Swap').click(PAGE_WAIT)
      await eventually(focused, (name) => name === 'swap-title')
      await button(page, 'Back to the quotes').click(PAGE_WAIT)
      await page.getByRole('heading', { name: 'Swap', exact: true }).waitFor(PAGE_WAIT)
      expect(await focused()).toBe('swap-title')
    })

    // It moves the time of the chain on, so that solvers offer nothing after it.
    it('shows an order that is not filled, and refunds it through the wallet', async () => {
      const { page, open } = await stage.openPage({ account: stage.network.user.address })
      stage.pauseBestSolver()
      await stage.swap({ page, open })
      await steps(page).getByText('Waiting for the solver').waitFor(PAGE_WAIT)
      await page.getByRole('link', { name: 'See the order' }).click()
      await page.locator('.hero-state').getByText('deposited').waitFor(PAGE_WAIT)
      await look(page, 'order-waiting')
      await stage.passTime(page, 250)
      await button(page, 'Refund').click(PAGE_WAIT)
      await page.locator('.hero-state').getByText('refunded').waitFor(PAGE_WAIT)
    })
  },
)
