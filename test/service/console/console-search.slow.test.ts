import { existsSync } from 'node:fs'
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from 'vitest'
import { runScenario } from '../../../packages/cli/src/devnet/scenario.js'
import { startConsole, type TestConsole } from '../../support/console/console.js'
import { CHROMIUM } from '../../support/packages/chromium.js'

const START_MS = 180_000
const PAGE_WAIT = { timeout: 30_000 }

let stage: TestConsole

/** Opens a place, and waits until the names of the solvers are known. */
async function openAt(place: string) {
  const { page, open } = await stage.openPage()
  onTestFinished(() => page.context().close())
  await open(place)
  await page
    .getByText(/Aldous|Beatrix/)
    .first()
    .waitFor(PAGE_WAIT)
  return page
}

describe.skipIf(!existsSync(CHROMIUM))(
  `solvers and orders in the console (needs ${CHROMIUM})`,
  { timeout: 90_000 },
  () => {
    beforeAll(async () => {
      stage = await startConsole()
      await runScenario(stage.network, () => {})
    }, START_MS)
    afterAll(() => stage?.close())

    it.each([
      ['beatrix', 1],
      ['Cos', 2],
    ])('the search for %s leads to the solver', async (text, index) => {
      const page = await openAt('solvers')
      await page.getByRole('searchbox').fill(text)
      await page.keyboard.press('Enter')
      const address = stage.network.solvers[index]?.account.address ?? ''
      await page.waitForURL((url) => url.hash.toLowerCase() === `#/solver/${address.toLowerCase()}`)
    })

    it('the search for the transaction of a recent event leads to its order', async () => {
      const { orders } = (await (await fetch(`${stage.network.serviceUrl}/v1/31337/orders`)).json()) as {
        orders: { orderId: string; settled?: { transactionHash: string } }[]
      }
      const settled = orders.find((order) => order.settled !== undefined)
      const page = await openAt('market')
      await page.getByRole('searchbox').fill(settled?.settled?.transactionHash ?? '')
      await page.keyboard.press('Enter')
      await page.waitForURL((url) => url.hash === `#/order/${settled?.orderId}`)
      await page.getByRole('heading', { name: 'Timeline' }).waitFor(PAGE_WAIT)
    })

    it('the market names the solver of a refund', async () => {
      const page = await openAt('market')
      const latestEvents = page.getByRole('list', { name: 'Events, newest first' })
      await latestEvents.getByText('not filled by Aldous').waitFor(PAGE_WAIT)
    })

    it('the page of a solver says why it has won nothing', async () => {
      const page = await openAt(`solver/${stage.network.solvers[1]?.account.address}`)
      await page.getByText('It won nothing: others had better offers.').waitFor(PAGE_WAIT)
      expect(await page.locator('dt', { hasText: 'Valid offers' }).count()).toBe(1)
    })
  },
)
