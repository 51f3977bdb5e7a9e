import { existsSync } from 'node:fs'
import { describe, expect, it } from 'vitest'
import { button, look, PATIENCE, useConsole } from '../support/console/swap-page.js'
import { eventually } from '../support/eventually.js'
import { CHROMIUM } from '../support/packages/chromium.js'

describe.skipIf(!existsSync(CHROMIUM))(
  `the auction of the console in a browser (needs ${CHROMIUM})`,
  { timeout: 90_000 },
  () => {
    const stage = useConsole()

    it('shows a price without a wallet or an address, and forgets nothing that the link says of the tokens', async () => {
      const { page, open } = await stage.openPage()
      await open(stage.swapLink())
      await page.getByText('best of 3 offers').waitFor(PATIENCE)
      expect(await page.getByLabel('You buy', { exact: true }).inputValue()).toBe('2\u202f498.75')
      await page.getByText('Best of 3 prices:').waitFor()
      expect(page.url()).not.toContain('WETH')
      await page.getByLabel('You sell exactly').fill('2.5')
      await eventually(
        () => page.getByLabel('You buy', { exact: true }).inputValue(),
        (amount) => amount === '6\u202f246.87',
      )
    })

    it('says why it asks for no price, also without a wallet, and asks only for the amount of the link', async () => {
      const { page, open } = await stage.openPage()
      let prices = 0
      page.on('request', (request) => {
        if (request.url().endsWith('/GetPrice')) prices += 1
      })
      await open(stage.swapLink())
      await page.getByText('best of 3 offers').waitFor(PATIENCE)
      expect(prices).toBe(1)
      const amount = page.getByLabel('You sell exactly')
      for (const [text, words] of [
        ['0.1234567890123456789', 'The token has 18 decimals only.'],
        ['1,000', 'Write 1000 or 1.000.'],
        ['-1', 'Enter a valid amount.'],
      ] as const) {
        await amount.fill(text)
        await page.getByText(words, { exact: true }).waitFor(PATIENCE)
      }
      await amount.fill('1')
      await page.getByLabel('Or watch the auction for an address').fill(`0x${'0'.repeat(40)}`)
      await page.getByText('Enter a valid address.', { exact: true }).waitFor(PATIENCE)
      const { address } = stage.network.user
      const mistyped = address.replace(/[a-f]/, (letter) => letter.toUpperCase())
      await page.getByLabel('Or watch the auction for an address').fill(mistyped)
      await page.getByText('its checksum is wrong').waitFor(PATIENCE)
      await page.locator('.token-button').first().click()
      const picker = page.getByRole('dialog', { name: 'Choose a token' })
      await picker.getByLabel('Address of the token, or a part of its symbol').fill(mistyped)
      await picker.getByText('its checksum is wrong').waitFor()
      expect(await button(page, 'Use this token').count()).toBe(0)
    })

    it('shows the auction for an address, and after the round the record of all solvers', async () => {
      const { page, open } = await stage.openPage()
      await open(stage.swapLink({ for: stage.network.user.address }))
      await page.getByText('3 of 3 answered').waitFor(PATIENCE)
      const ranking = page.getByRole('region', { name: 'Ranking of the solvers' })
      await ranking.getByText('−25.0 bp').waitFor()
      await eventually(
        () => ranking.getByText(/^\d+ ms$/).count(),
        (times) => times === 3,
      )
      expect(await page.locator('.auction-chart .chart-mark').count()).toBe(3)
      expect(await ranking.getByRole('row').allInnerTexts()).toEqual([
        expect.stringContaining('Against best'),
        expect.stringMatching(/Aldous[\s\S]*best/),
        expect.stringMatching(/Beatrix[\s\S]*−7\.0 bp/),
        expect.stringMatching(/Cosmo[\s\S]*−25\.0 bp/),
      ])
      await look(page, 'auction')
    })

    it('has the contract check the best offer once a wallet is connected', async () => {
      const { page, open } = await stage.openPage({ account: stage.network.user.address })
      await open(stage.swapLink({ for: stage.network.user.address }))
      const ranking = page.getByRole('region', { name: 'Ranking of the solvers' })
      const recorded = () =>
        eventually(
          () => ranking.getByText(/^\d+ ms$/).count(),
          (times) => times === 3,
        )
      await recorded()
      expect(await ranking.getByText('verified').count()).toBe(0)
      await button(page, 'Connect wallet').click()
      await ranking.getByText('verified').waitFor(PATIENCE)
      await recorded()
      expect(await ranking.getByRole('row').allInnerTexts()).toEqual([
        expect.stringContaining('Result'),
        expect.stringMatching(/Aldous[\s\S]*verified/),
        expect.not.stringContaining('verified'),
        expect.not.stringContaining('verified'),
      ])
      await look(page, 'auction-verified')
    })
  },
)
