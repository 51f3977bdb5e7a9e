import { existsSync } from 'node:fs'
import { describe, expect, it, onTestFinished } from 'vitest'
import { button, look, PAGE_WAIT, useConsole } from '../../support/console/swap-page.js'
import { eventually } from '../../support/eventually.js'
import { startCable } from '../../support/faults/cable.js'
import { CHROMIUM } from '../../support/packages/chromium.js'

/** Counts the listeners of each signal, for `mostAbortListeners`: the most of a signal that may still be aborted. */
const WATCH_SIGNALS = `{
  const counts = new Map()
  const watch = (name, change) => {
    const original = EventTarget.prototype[name]
    EventTarget.prototype[name] = function (type, ...rest) {
      if (this instanceof AbortSignal && type === 'abort') counts.set(this, (counts.get(this) ?? 0) + change)
      return original.call(this, type, ...rest)
    }
  }
  watch('addEventListener', 1)
  watch('removeEventListener', -1)
  globalThis.mostAbortListeners = () =>
    Math.max(...[...counts].filter(([{ aborted }]) => !aborted).map(([, count]) => count))
}`

describe.skipIf(!existsSync(CHROMIUM))(
  `the auction of the console in a browser (needs ${CHROMIUM})`,
  { timeout: 90_000 },
  () => {
    const stage = useConsole()

    it('shows a price without a wallet or an address, and with one auction, and leaves no claim of the link in the address bar', async () => {
      const { page, open } = await stage.openPage()
      await open(stage.swapLink())
      await page.getByText('best of 3 offers').waitFor(PAGE_WAIT)
      expect(await page.getByLabel('You buy', { exact: true }).inputValue()).toBe('2\u202f498.75')
      // Nobody can take its offers.
      await page.getByText('3 of 3 answered').waitFor(PAGE_WAIT)
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
      await page.getByText('best of 3 offers').waitFor(PAGE_WAIT)
      expect(prices).toBe(1)
      const amount = page.getByLabel('You sell exactly')
      for (const [text, words] of [
        ['0.1234567890123456789', 'The token has 18 decimals only.'],
        ['1,000', 'Write 1000 or 1.000.'],
        ['-1', 'Enter an amount above 0.'],
        ['1.000,50', 'Write digits and one point only, such as 1000.5.'],
        ['1.5 WETH', 'Write digits and one point only, such as 1000.5.'],
      ] as const) {
        await amount.fill(text)
        await page.getByText(words, { exact: true }).waitFor(PAGE_WAIT)
      }
      await amount.fill('1')
      await page.getByLabel('Or watch the auction for an address').fill(`0x${'0'.repeat(40)}`)
      await page.getByText('Enter a valid address.', { exact: true }).waitFor(PAGE_WAIT)
      const { address } = stage.network.user
      const mistyped = address.replace(/[a-f]/, (letter) => letter.toUpperCase())
      await page.getByLabel('Or watch the auction for an address').fill(mistyped)
      await page.getByText('its checksum is wrong').waitFor(PAGE_WAIT)
      await page.locator('.token-button').first().click()
      const picker = page.getByRole('dialog', { name: 'Choose a token' })
      await picker.getByLabel('Name or symbol of the token or a part of it, or its address').fill(mistyped)
      await picker.getByText('its checksum is wrong').waitFor()
      expect(await button(page, 'Use this token').count()).toBe(0)
    })

    it('shows the auction for an address, and after the round the record of all solvers', async () => {
      const { page, open } = await stage.openPage()
      await open(stage.swapLink({ for: stage.network.user.address }))
      await page.getByText('3 of 3 answered').waitFor(PAGE_WAIT)
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

    it('asks again soon each time its stream is cut after a round, and leaves no listener behind', async () => {
      const cable = await startCable(stage.network.serviceUrl)
      onTestFinished(() => cable.close())
      const { page, open } = await stage.openPage({ baseUrl: cable.url })
      await page.clock.install()
      await page.addInitScript(WATCH_SIGNALS)
      await page.addInitScript('Math.random = () => 0')
      await open(stage.swapLink({ for: stage.network.user.address }))
      let rounds = 1
      page.on('request', (request) => {
        if (request.url().endsWith('/StreamQuotes')) rounds++
      })
      const recorded = () =>
        page.waitForResponse((response) => response.url().endsWith('/GetQuoteRecord') && response.ok())
      const times = page.getByRole('region', { name: 'Ranking of the solvers' }).getByText(/^\d+ ms$/)
      await eventually(
        () => times.count(),
        (count) => count === 3,
      )
      const listeners: number[] = []
      for (let cut = 1; cut <= 4; cut++) {
        await page.clock.pauseAt((await page.evaluate<number>('Date.now()')) + 100)
        const failed = page.waitForEvent('requestfailed', (request) =>
          request.url().endsWith('/StreamQuotes'),
        )
        cable.cut()
        await failed
        await page.clock.runFor(450)
        expect(rounds).toBe(cut)
        await page.clock.runFor(100)
        const next = recorded()
        await eventually(
          async () => rounds,
          (count) => count === cut + 1,
        )
        await page.clock.resume()
        await next
        listeners.push(await page.evaluate<number>('mostAbortListeners()'))
      }
      expect(listeners).toEqual(listeners.map(() => listeners[0]))
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
      await ranking.getByText('verified').waitFor(PAGE_WAIT)
      await recorded()
      expect(await ranking.getByRole('row').allInnerTexts()).toEqual([
        expect.stringContaining('Result'),
        expect.stringMatching(/Aldous[\s\S]*Verified/),
        expect.not.stringContaining('Verified'),
        expect.not.stringContaining('Verified'),
      ])
      await look(page, 'auction-verified')
    })
  },
)
