import { existsSync } from 'node:fs'
import { describe, expect, it } from 'vitest'
import { send } from '../../../packages/cli/src/devnet/deploy.js'
import { balanceOf } from '../../../packages/cli/src/devnet/user-steps.js'
import { createMockWallet } from '../../support/clients/mock-wallet.js'
import { button, look, PAGE_WAIT, steps, useConsole } from '../../support/console/swap-page.js'
import { REFUSED, type WalletAnswer } from '../../support/console/wallet.js'
import { CHROMIUM } from '../../support/packages/chromium.js'

describe.skipIf(!existsSync(CHROMIUM))(
  `swaps in the console (needs ${CHROMIUM})`,
  { timeout: 90_000 },
  () => {
    const stage = useConsole()

    it('swaps with a wallet from the price to SETTLED, and shows why the offer won', async () => {
      const { page, open } = await stage.openPage({ account: stage.network.user.address })
      await stage.swap({ page, open })
      await steps(page).getByText('Quote checked through your wallet').waitFor(PAGE_WAIT)
      await steps(page).getByText('Deposited').waitFor(PAGE_WAIT)
      await steps(page).getByText('You received').waitFor(PAGE_WAIT)
      await look(page, 'swap-done')
      await page.getByRole('link', { name: 'See the order' }).click()
      await page.locator('.hero-state').getByText('settled').waitFor(PAGE_WAIT)
      const timeline = page.getByRole('list').filter({ hasText: 'Quoted' })
      await expect
        .poll(() => timeline.locator('.timeline-name').allInnerTexts())
        .toEqual([
          expect.stringContaining('Quoted'),
          expect.stringContaining('Deposited'),
          expect.stringContaining('Settled'),
        ])
      await page.getByText('The best offer was +7.0 bp better than the next one.').waitFor()
      await look(page, 'order-own')
      await page.reload()
      await page.getByText('The best offer was +7.0 bp better than the next one.').waitFor(PAGE_WAIT)
    })

    it('swaps with one prompt of a wallet that takes approval and deposit together', async () => {
      const { weth, settlement } = stage.network.contracts
      await send(stage.user(), weth, 'approve', [settlement, 0n])
      const node = stage.node()
      const account = stage.network.user.address
      const { request, prompts } = createMockWallet({
        account,
        batches: 'ready',
        node: (asked) => node.request(asked as never),
      })
      const answer: WalletAnswer = async (method, params) =>
        method.startsWith('wallet_') || method === 'eth_sendTransaction'
          ? { result: await request({ method, params }) }
          : undefined
      const { page, open } = await stage.openPage({ account, answer })
      await stage.swap({ page, open })
      await steps(page).getByText('You received').waitFor(PAGE_WAIT)
      expect(await steps(page).locator('.step-done').count()).toBe(4)
      await steps(page).getByText('in one with the deposit').waitFor(PAGE_WAIT)
      expect(prompts.map(({ method }) => method)).toEqual(['wallet_sendCalls'])
      await look(page, 'swap-one-prompt')
    })

    it('shows a deposit address with a QR code, and the order once someone has paid', async () => {
      const { network } = stage
      const { page, open } = await stage.openPage()
      await open(stage.swapLink({ for: network.user.address, mode: 'address' }))
      await button(page, 'Get the deposit address').click(PAGE_WAIT)
      const section = page.getByRole('region', { name: 'Deposit address' })
      await section.getByText('This address is not checked').waitFor()
      expect(await section.getByRole('img', { name: 'QR code of the deposit address' }).count()).toBe(1)
      const address = await section.locator('.whole-address code').nth(1).innerText()
      await look(page, 'deposit-address')
      const client = stage.user()
      await send(client, network.contracts.weth, 'transfer', [address as `0x${string}`, 10n ** 18n])
      await page.getByText('You received').waitFor(PAGE_WAIT)
    })

    it('refuses to deposit when the user refuses in the wallet, and goes back to the quotes', async () => {
      const answer: WalletAnswer = (method) => (method === 'eth_sendTransaction' ? REFUSED : undefined)
      const { page, open } = await stage.openPage({ account: stage.network.user.address, answer })
      await stage.swap({ page, open })
      await page.getByRole('alert').getByText('You refused the request in the wallet.').waitFor(PAGE_WAIT)
      await button(page, 'Back to the quotes').click()
      await button(page, 'Swap').waitFor(PAGE_WAIT)
    })

    // It moves the time of the chain on, so that solvers offer nothing after it.
    it('returns the tokens at a deposit address that no solver has filled, through the wallet', async () => {
      const { network } = stage
      const { user, contracts } = network
      const client = stage.user()
      const { page, open } = await stage.openPage({ account: user.address })
      stage.pauseBestSolver()
      await open(stage.swapLink({ for: user.address, mode: 'address' }))
      await button(page, 'Get the deposit address').click(PAGE_WAIT)
      const address = await page.locator('.whole-address code').nth(1).innerText()
      await send(client, contracts.weth, 'transfer', [address as `0x${string}`, 10n ** 18n])
      await stage.passTime(page, 250)
      await page.getByText('Send nothing to this address any more.').waitFor(PAGE_WAIT)
      await page.getByRole('link', { name: 'See the order' }).click()
      const deposit = page.getByRole('region', { name: 'Deposit address' })
      await deposit.getByText('The solver has not filled this order in time.').waitFor(PAGE_WAIT)
      const before = await balanceOf(client, contracts.weth)
      await button(page, 'Connect wallet').click()
      await deposit.getByText("of the solver's bond").waitFor(PAGE_WAIT)
      await look(page, 'address-refund')
      await button(page, 'Refund').click()
      await page.locator('.hero-state').getByText('ended without a fill').waitFor(PAGE_WAIT)
      expect((await balanceOf(client, contracts.weth)) - before).toBe(10n ** 18n)
      await deposit.getByText('Nothing can be taken back now.').waitFor(PAGE_WAIT)
    })
  },
)
