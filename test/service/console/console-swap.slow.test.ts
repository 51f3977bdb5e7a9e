import { existsSync } from 'node:fs'
import { create, toBinary } from '@bufbuild/protobuf'
import { describe, expect, it } from 'vitest'
import { ListSolverStatsResponseSchema } from '../../../gen/aggregator/v1/solver_stats_pb.js'
import { send } from '../../../packages/cli/src/devnet/deploy.js'
import { button, look, PAGE_WAIT, steps, useConsole } from '../../support/console/swap-page.js'
import { REFUSED, type WalletAnswer } from '../../support/console/wallet.js'
import { deferred } from '../../support/deferred.js'
import { eventually } from '../../support/eventually.js'
import { CHROMIUM } from '../../support/packages/chromium.js'

/** Longer than the time from one round of quotes to the next. */
const REFRESH_MS = 20_000

describe.skipIf(!existsSync(CHROMIUM))(
  `a swap by contract in the console (needs ${CHROMIUM})`,
  { timeout: 180_000 },
  () => {
    const stage = useConsole({ POLL_INTERVAL_MS_31337: '100', DEFAULT_DEPOSIT_WINDOW: '120' })

    it('takes any offer as it is shown, also after a no in the wallet, to the end of its order', async () => {
      let isRefusing = true
      const answer: WalletAnswer = (method) =>
        isRefusing && /sendTransaction|sendCalls/.test(method) ? REFUSED : undefined
      const { page, open } = await stage.openPage({ account: stage.network.user.address, answer })
      await open(stage.swapLink())
      await button(page, 'Connect wallet').click(PAGE_WAIT)
      const ranking = page.getByRole('region', { name: 'Ranking of the solvers' })
      await ranking.getByText('Checked by the contract').waitFor(PAGE_WAIT)
      // Without fills only dollars have a worth, which is their amount: they stand first once the balances are read.
      await page.locator('.token-button').first().click()
      const picker = page.getByRole('dialog', { name: 'Choose a token' })
      await picker
        .locator('.token-symbol', { hasText: 'USDC' })
        .and(picker.locator('li:first-child *'))
        .waitFor(PAGE_WAIT)
      expect(await picker.locator('.token-symbol').allInnerTexts()).toEqual(['USDC', 'WETH', 'bUSD'])
      expect(await picker.getByRole('list').innerText()).not.toContain('≈')
      await button(page, 'Close').click()
      await ranking.getByRole('radio', { name: 'Take the offer of Beatrix' }).check(PAGE_WAIT)
      await page.getByText('Chosen from 3 offers: Beatrix, no order yet in 24 h').waitFor(PAGE_WAIT)
      expect(await page.getByLabel('You buy', { exact: true }).inputValue()).toBe('2\u202f497.00')
      expect(await page.locator('.terms').innerText()).toMatch(
        /^You pay\s+1\s+WETH and gas of about .* ETH.*, approval included; no fee\s+Solver owes\s+exactly 2\u202f497\.00\s+USDC if deposited by \d\d:\d\d:\d\d \S+ \(in .*\)\s+If not paid\s+after \d\d:\d\d:\d\d \S+ \(in .*\) you can take 1\s+WETH back for the gas of a refund, plus 124\.85 bUSD.* \(worth unknown\) of the solver's bond$/,
      )
      await look(page, 'swap-chosen')
      await button(page, 'Swap').click(PAGE_WAIT)
      const notice = page.getByRole('alert').filter({ hasText: 'You refused the request in the wallet.' })
      await notice.waitFor(PAGE_WAIT)
      const order = page.locator('.taken-terms a[href*="#/order/"]')
      const before = await order.getAttribute('title')
      isRefusing = false
      await button(page, 'Try again').click(PAGE_WAIT)
      await page.locator('.taken-terms').getByText('Beatrix').waitFor(PAGE_WAIT)
      await steps(page).getByText('Quote checked through your wallet').waitFor(PAGE_WAIT)
      await steps(page).getByText('The solver has paid').waitFor(PAGE_WAIT)
      expect(await page.locator('.checklist .hero-amounts').innerText()).toMatch(
        /Bought\s+2\u202f497\.00\s+USDC/,
      )
      expect(await order.getAttribute('title')).toBe(before)
      await look(page, 'swap-done')
      await page
        .getByRole('region', { name: 'Why this offer' })
        .getByText('Checked by the contract')
        .waitFor(PAGE_WAIT)

      await page.getByRole('link', { name: 'See the order' }).click()
      await page.locator('.hero-state').getByText('settled').waitFor(PAGE_WAIT)
      const timeline = page.getByRole('list').filter({ hasText: 'Quoted' })
      await expect
        .poll(() => timeline.locator('.timeline-name').allInnerTexts())
        .toEqual(
          ['Quoted', 'Deposited', 'Settled', 'Fill deadline'].map((name) => expect.stringContaining(name)),
        )
      expect(await page.locator('.order .fact-row').innerText()).toMatch(
        /^Rate\s+1\sWETH\s=\s2\u202f497\.0000\s[\s\S]*Quoted\s+2\u202f497\.00\s+USDC\s*, paid in full\s/,
      )
      await page.reload()
      await page.getByRole('region', { name: 'Why this offer' }).waitFor(PAGE_WAIT)
    })

    it('has the user choose between the best price and a solver that pays, when the best one often does not', async () => {
      const { page, open } = await stage.openPage({
        account: stage.network.user.address,
        answer: (method) => (/sendTransaction|sendCalls/.test(method) ? REFUSED : undefined),
      })
      const solvers = stage.network.solvers.map(({ account }, index) => ({
        solver: account.address,
        settled: 7n,
        refunded: index === 0 ? 3n : 0n,
      }))
      const schema = ListSolverStatsResponseSchema
      const body = Buffer.from(toBinary(schema, create(schema, { solvers })))
      await page.route('**/ListSolverStats*', (route) =>
        route.fulfill({ contentType: 'application/proto', body }),
      )
      await open(stage.swapLink())
      await page.getByText('Aldous did not pay 3 of 10 orders').waitFor(PAGE_WAIT)
      await button(page, 'Connect wallet').click(PAGE_WAIT)
      const offers = page.getByRole('group', { name: 'choose an offer' }).getByRole('button')
      await offers.first().waitFor(PAGE_WAIT)
      expect((await offers.allInnerTexts()).map((text) => text.replace(/\s+/g, ' '))).toEqual([
        expect.stringMatching(/^Swap with Aldous 2 \d\d\d\.\d\d USDC.* \+1\.\d\d USDC, 3 of 10 not paid$/),
        expect.stringMatching(/^Swap with Beatrix 2 497\.00 USDC.* 7 of 7 paid$/),
      ])
      expect(await page.locator('.main-action, [name="offer"]:checked').count()).toBe(0)
      expect(await page.getByLabel('You buy', { exact: true }).inputValue()).toMatch(/ or 2\u202f497\.00$/)
      await page.getByText('Checked by the contract').nth(1).waitFor(PAGE_WAIT)
      await look(page, 'swap-two-offers')
      await page.getByRole('radio', { name: 'Take the offer of Aldous' }).check(PAGE_WAIT)
      await page.locator('.main-action').getByText('Swap').waitFor(PAGE_WAIT)
      await page.getByRole('radio', { name: 'Take the offer of Beatrix' }).check(PAGE_WAIT)
      await button(page, 'Swap').click(PAGE_WAIT)
      await button(page, 'Back to the quotes').click(PAGE_WAIT)
      await offers.first().click(PAGE_WAIT)
      await page.locator('.taken-terms').getByText('Aldous').waitFor(PAGE_WAIT)
    })

    it('asks the wallet once, for what the page shows, whatever happens meanwhile, and another tab knows of it', async () => {
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
      const link = page.locator('.taken-terms a[href*="#/order/"]')
      const orderId = (await link.getAttribute('title')) ?? ''
      const roundsBefore = rounds.length

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
      await other.locator(`a[href*="${orderId}"]`).first().waitFor(PAGE_WAIT)

      expect(rounds).toHaveLength(roundsBefore)
      answered.open()
      const url = `${serviceUrl}/v1/31337/order/${orderId}`
      await eventually(
        async () => (await (await fetch(url)).json()) as { state: string },
        ({ state }) => state === 'SETTLED',
      )
      expect(sent).toEqual([contracts.settlement.toLowerCase()])
    })

    // It moves the time of the chain on, so that solvers offer nothing after it.
    it('is refunded through the wallet when nobody fills it', async () => {
      const { page, open } = await stage.openPage({ account: stage.network.user.address })
      stage.pauseBestSolver()
      await stage.swap({ page, open })
      await steps(page).getByText('Waiting for the solver').waitFor(PAGE_WAIT)
      await page.getByRole('link', { name: 'See the order' }).click()
      await page.locator('.hero-state').getByText('deposited').waitFor(PAGE_WAIT)
      await stage.passTime(page, 250)
      await button(page, 'Refund').click(PAGE_WAIT)
      await page.locator('.hero-state').getByText('refunded').waitFor(PAGE_WAIT)
      const paid = /Returned\s*1\s*WETH\s*Compensation\s*124\.93 bUSD/
      await page.locator('.hero-amounts', { hasText: paid }).waitFor(PAGE_WAIT)
      // From the deposit: the deadline that was missed is no step.
      expect(await page.locator('.timeline-name').last().innerText()).toMatch(
        /^Refunded\s*\+\d+ min from the deposit$/,
      )
    })
  },
)
