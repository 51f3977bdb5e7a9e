import { existsSync } from 'node:fs'
import type { Locator, Page } from 'playwright-core'
import { describe, expect, it } from 'vitest'
import { takeScreenshot } from '../../support/console/console.js'
import { button, PAGE_WAIT, useConsole } from '../../support/console/swap-page.js'
import { CHROMIUM } from '../../support/packages/chromium.js'

const PHONE = { viewport: { width: 390, height: 400 }, hasTouch: true, isMobile: true }

/** What the page has and Node's types do not. */
interface PageGlobals {
  getComputedStyle(element: unknown): { getPropertyValue(name: string): string }
}

/** A property of an element as it is shown. */
const styleOf = (element: Locator, property: string): Promise<string> =>
  element.evaluate(
    (shown, name) => (globalThis as unknown as PageGlobals).getComputedStyle(shown).getPropertyValue(name),
    property,
  )

/** The upper edge of the element with the focus, and the lower edge of the header. */
const edges = (page: Page) =>
  page.evaluate(`[document.activeElement.getBoundingClientRect().top,
    document.querySelector('.header').getBoundingClientRect().bottom]`) as Promise<[number, number]>

describe.skipIf(!existsSync(CHROMIUM))(
  `the console in the colours and on the screen of its user (needs ${CHROMIUM})`,
  { timeout: 90_000 },
  () => {
    const stage = useConsole()

    it.each(['light', 'dark'] as const)(
      'shows in forced colours (%s) what is current, what is filled, and what has the focus',
      async (colorScheme) => {
        const { page, open } = await stage.openPage({ colorScheme, forcedColors: 'active' })
        await open('solvers')
        const [solvers, swap] = ['Solvers', 'Swap'].map((name) =>
          page.getByRole('link', { name, exact: true }),
        )
        const background = await styleOf(page.locator('html'), 'background-color')
        const shown = (element: Locator | undefined, property: string) =>
          styleOf(element as Locator, property).then((colour) => colour !== background)
        await page.getByRole('img', { name: 'Chain 31337 is ok' }).waitFor(PAGE_WAIT)
        expect([
          await shown(solvers, 'border-bottom-color'),
          await shown(swap, 'border-bottom-color'),
          await shown(page.locator('.dot-ok'), 'background-color'),
          await shown(page.locator('.segments a[aria-current]'), 'background-color'),
        ]).toEqual([true, false, true, true])
        await takeScreenshot(page, `forced-colours-solvers-${colorScheme}`)
        await open(stage.swapLink())
        await page.getByText('best of 3 offers').waitFor(PAGE_WAIT)
        const connect = button(page, 'Connect wallet')
        expect(await styleOf(connect, 'color')).not.toBe(await styleOf(connect, 'background-color'))
        // The browser would paint the colour of the page behind the text, which may be that of the text.
        expect(await styleOf(connect, 'forced-color-adjust')).toBe('none')
        await connect.focus()
        expect(await shown(connect, 'outline-color')).toBe(true)
        expect(await styleOf(connect, 'outline-style')).toBe('solid')
        await takeScreenshot(page, `forced-colours-swap-${colorScheme}`)
      },
    )

    it('leads to the action while the keyboard of a phone takes half of the screen', async () => {
      const { page, open } = await stage.openPage({ ...PHONE, account: stage.network.user.address })
      await open(stage.swapLink())
      await button(page, 'Connect wallet').tap(PAGE_WAIT)
      const amount = page.locator('.amount-input').first()
      await amount.tap()
      expect(await amount.getAttribute('inputmode')).toBe('decimal')
      await page.keyboard.type('2')
      await takeScreenshot(page, 'phone-keyboard')
      await button(page, 'Swap').tap(PAGE_WAIT)
      await page.getByText('You received').waitFor(PAGE_WAIT)
      // Phones zoom in on fields of smaller text.
      expect(await styleOf(page.getByRole('searchbox'), 'font-size')).toBe('16px')
    })

    it.each([
      [1024, 460],
      [390, 460],
    ])('shows what takes the focus below its header, %d pixels wide', async (width, height) => {
      const { page, open } = await stage.openPage({ viewport: { width, height } })
      await open(stage.swapLink({ for: stage.network.user.address }))
      await page.getByText('3 of 3 answered').waitFor(PAGE_WAIT)
      await page.locator('main a, main button').last().focus()
      for (let count = 0; count < 20; count++) {
        await page.keyboard.press('Shift+Tab')
        const isInPage = await page.evaluate(`document.activeElement.closest('main') !== null`)
        if (!isInPage) break
        const [top, bottom] = await edges(page)
        expect(top).toBeGreaterThanOrEqual(bottom)
      }
    })
  },
)
