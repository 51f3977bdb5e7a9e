import { existsSync } from 'node:fs'
import { describe, expect, it, onTestFinished } from 'vitest'
import { playSale, runScenario } from '../../../packages/cli/src/devnet/scenario.js'
import { seriousFindings } from '../../support/console/axe.js'
import { look, PAGE_WAIT, useConsole } from '../../support/console/swap-page.js'
import { startCable } from '../../support/faults/cable.js'
import { CHROMIUM } from '../../support/packages/chromium.js'

const STRANGER = `0x${'1'.repeat(40)}`

describe.skipIf(!existsSync(CHROMIUM))(
  `what a visitor without a wallet sees first (needs ${CHROMIUM})`,
  { timeout: 180_000 },
  () => {
    const stage = useConsole()

    it('is the listed pair that was traded last, with a price, an auction, its day and its last orders', async () => {
      await runScenario(stage.network, () => {})
      await playSale(stage.network, () => {})
      const { page, open } = await stage.openPage({ viewport: { width: 390, height: 844 } })
      await open('')
      await page.getByText('3 of 3 done').waitFor(PAGE_WAIT)
      await page.getByText('Best of 3 offers').waitFor(PAGE_WAIT)
      expect(await page.getByLabel('You sell exactly').inputValue()).toBe('1')
      expect(await page.getByLabel('You buy', { exact: true }).inputValue()).toBe('2\u202f498.75')
      expect(await page.locator('.token-button').allInnerTexts()).toEqual([
        expect.stringContaining('WETH'),
        expect.stringContaining('USDC'),
      ])
      const pair = page.getByRole('region', { name: 'This pair' })
      await pair.locator('tbody tr').nth(1).waitFor(PAGE_WAIT)
      await page.getByText('Volume').first().waitFor()
      // What this is, and who runs it, with a price as well.
      expect(await page.locator('main').innerText()).toMatch(
        /Quote aggregator: market makers compete.*How it works/,
      )
      expect(await page.title()).toMatch(/^1 WETH = 2\u202f498\.75 USDC/)
      // Far below what a phone shows.
      await page.locator('.rate-panel canvas').waitFor(PAGE_WAIT)
      // Neither smallest units nor powers of ten.
      expect(await page.locator('main').innerText()).not.toMatch(/× ?10|\bunits\b/)
      await look(page, 'first-sight')
    })

    it('names what a link names as from this link, stores nothing, and sends the output nowhere without a click', async () => {
      const { page } = await stage.openPage()
      const { user, contracts, serviceUrl } = stage.network
      const query = `sell=${STRANGER}:6:USDC&buy=${contracts.usdc}&mode=address&for=${user.address}`
      await page.goto(`${serviceUrl}/#/swap?${query}`)
      await page.locator('.token-button', { hasText: 'from this link' }).waitFor(PAGE_WAIT)
      await page.getByText('This instance does not list these tokens.').waitFor(PAGE_WAIT)
      expect(page.url()).not.toContain(':6:USDC')
      const field = page.getByLabel('Your address: it gets the output, or a refund')
      expect(await field.inputValue()).toBe('')
      await page.getByText('This link sends the output to').waitFor()
      await page.getByRole('button', { name: 'Use this address' }).click()
      expect(await field.inputValue()).toBe(user.address)
      expect(await page.evaluate('JSON.stringify(localStorage)')).not.toContain('USDC')
      await page.reload()
      await page.getByText('This instance does not list these tokens.').waitFor(PAGE_WAIT)
      expect(await page.getByText('from this link').count()).toBe(0)
    })

    it('is the auction for an address, with the record of all solvers after each round, also of one whose stream is cut', async () => {
      const cable = await startCable(stage.network.serviceUrl)
      onTestFinished(() => cable.close())
      const { page, open } = await stage.openPage({ baseUrl: cable.url })
      const recorded = () =>
        page.waitForResponse((response) => response.url().endsWith('/GetQuoteRecord') && response.ok())
      const first = recorded()
      await open(stage.swapLink({ for: stage.network.user.address, mode: 'address' }))
      await first
      const ranking = page.getByRole('region', { name: 'Ranking of the solvers' })
      await expect.poll(() => ranking.locator('tbody tr').count()).toBe(3)
      expect(await ranking.getByRole('row').allInnerTexts()).toEqual([
        expect.stringContaining('Against best'),
        expect.stringMatching(/Aldous[\s\S]*best/),
        expect.stringMatching(/Beatrix[\s\S]*−7\.0 bp/),
        expect.stringMatching(/Cosmo[\s\S]*−25\.0 bp/),
      ])
      const next = recorded()
      cable.cut()
      await next
    })

    it('is pale with its age while the instance does not answer', async () => {
      const cable = await startCable(stage.network.serviceUrl)
      onTestFinished(() => cable.close())
      const { page, open } = await stage.openPage({ baseUrl: cable.url })
      await open(stage.swapLink())
      await page.getByText('Best of 3 offers').waitFor(PAGE_WAIT)
      expect(await page.locator('.form.stale').count()).toBe(0)
      cable.silence()
      await page.locator('.form.stale').waitFor({ timeout: 60_000 })
      await page.getByText(/^Price of \d+ s ago$/).waitFor()
      expect(await page.title()).toMatch(/^Swap/)
      expect(await seriousFindings(page)).toEqual([])
    })
  },
)
