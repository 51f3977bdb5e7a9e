import { existsSync } from 'node:fs'
import type { Page } from 'playwright-core'
import { createTestClient, http } from 'viem'
import { afterAll, afterEach, beforeAll, describe, expect, it, onTestFinished } from 'vitest'
import { createDevnetClient } from '../../src/devnet/deploy.js'
import { balanceOf, send } from '../../src/devnet/user-steps.js'
import {
  type ConsolePage,
  overflow,
  setHidden,
  startConsole,
  type TestConsole,
  takeScreenshot,
} from '../support/console/console.js'
import { eventually } from '../support/eventually.js'
import { startCable } from '../support/faults/cable.js'
import { CHROMIUM } from '../support/packages/chromium.js'
import { readMetrics } from '../support/service/metrics.js'

/** Long enough to take an offer, short enough to wait for a refund. */
const WINDOWS = { DEFAULT_DEPOSIT_WINDOW: '12', DEFAULT_FILL_WINDOW: '3', POLL_INTERVAL_MS_31337: '100' }
const PATIENCE = { timeout: 30_000 }
const START_MS = 120_000
const DESK = { width: 1440, height: 900 }

let stage: TestConsole
let shown: ConsolePage
const pages: ConsolePage[] = []

async function openPage(options: Parameters<TestConsole['openPage']>[0] = {}): Promise<Page> {
  shown = await stage.openPage({ viewport: DESK, ...options })
  pages.push(shown)
  onTestFinished(() => shown.page.context().close())
  return shown.page
}

const button = (page: Page, name: string | RegExp) => page.getByRole('button', { name })
const bestSolver = () => {
  const [aldous] = stage.network.solvers
  if (aldous === undefined) throw new Error('the network has no solver')
  return aldous
}

const node = () => createTestClient({ mode: 'anvil', transport: http(stage.network.devnet.rpcUrl) })

/** Numbers of open streams of events and of quotes at the service. */
async function openStreams(): Promise<string> {
  const { sum } = await readMetrics(stage.network.serviceUrl)
  return ['aggregator_stream_clients', 'aggregator_quote_streams'].map((name) => sum(name, {})).join(' ')
}

/** Writes screenshots of a state of the page, also on a phone, where it must fit. */
async function look(page: Page, name: string): Promise<void> {
  await takeScreenshot(page, name)
  await page.setViewportSize({ width: 390, height: 844 })
  expect(await overflow(page)).toBe(0)
  await takeScreenshot(page, `${name}-390`)
  await page.setViewportSize(DESK)
}

/** Connects the injected wallet, and takes the best offer. */
async function swap(page: Page): Promise<void> {
  await shown.open(stage.swapLink())
  await button(page, 'Connect wallet').click(PATIENCE)
  await button(page, 'Swap').click(PATIENCE)
}

describe.skipIf(!existsSync(CHROMIUM))(
  `the console in a browser (needs ${CHROMIUM})`,
  { timeout: 90_000 },
  () => {
    beforeAll(async () => {
      stage = await startConsole(WINDOWS)
    }, START_MS)
    afterAll(() => stage?.close())
    afterEach(() => {
      for (const { problems } of pages.splice(0)) expect(problems).toEqual([])
    })

    it('shows a price without a wallet or an address, and forgets nothing that the link says of the tokens', async () => {
      const page = await openPage()
      await shown.open(stage.swapLink())
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

    it('shows the auction for an address, and after the round the record of all solvers', async () => {
      const page = await openPage()
      await shown.open(stage.swapLink({ for: stage.network.user.address }))
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
      const page = await openPage({ account: stage.network.user.address })
      await shown.open(stage.swapLink({ for: stage.network.user.address }))
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

    it('rests while its tab is hidden, and then has the events of that time', async () => {
      const page = await openPage()
      await shown.open(stage.swapLink({ for: stage.network.user.address }))
      await page.getByText('3 of 3 answered').waitFor(PATIENCE)
      await eventually(openStreams, (streams) => streams === '1 1')
      await setHidden(page, true)
      await eventually(openStreams, (streams) => streams === '0 0')
      const other = await openPage({ account: stage.network.user.address })
      await swap(other)
      await other.getByText('Filled: you have the output').waitFor(PATIENCE)
      await other.context().close()
      await eventually(openStreams, (streams) => streams === '0 0')
      await setHidden(page, false)
      await eventually(openStreams, (streams) => streams === '1 1')
      await page.getByRole('link', { name: 'Market' }).click()
      const fresh = page.locator('.tape-line.fresh .state')
      const words = () => fresh.allInnerTexts()
      expect(await eventually(words, ({ length }) => length > 1)).toEqual([
        expect.stringContaining('settled'),
        expect.stringContaining('deposited'),
      ])
      await eventually(openStreams, (streams) => streams === '1 0')
    })

    it('swaps with a wallet from the price to SETTLED, and shows why the offer won', async () => {
      const page = await openPage({ account: stage.network.user.address })
      await swap(page)
      const steps = page.getByRole('list', { name: 'Steps of the swap' })
      await steps.getByText('Quote checked through your wallet').waitFor(PATIENCE)
      await steps.getByText('Deposited').waitFor(PATIENCE)
      await steps.getByText('Filled: you have the output').waitFor(PATIENCE)
      await look(page, 'swap-done')
      await page.getByRole('link', { name: 'See the order' }).click()
      await page.locator('.hero-state').getByText('settled').waitFor(PATIENCE)
      const timeline = page.getByRole('list').filter({ hasText: 'Quoted' })
      expect(await timeline.locator('.timeline-name').allInnerTexts()).toEqual([
        expect.stringContaining('Quoted'),
        expect.stringContaining('Deposited'),
        expect.stringContaining('Settled'),
      ])
      await page.getByText('The best offer was +7.0 bp better than the next one.').waitFor()
      await look(page, 'order-own')
      await page.reload()
      await page.getByText('The best offer was +7.0 bp better than the next one.').waitFor(PATIENCE)
    })

    it('shows a deposit address with a QR code, and the order once someone has paid', async () => {
      const { network } = stage
      const page = await openPage()
      await shown.open(stage.swapLink({ for: network.user.address, mode: 'address' }))
      await button(page, 'Get the deposit address').click(PATIENCE)
      const section = page.getByRole('region', { name: 'Deposit address' })
      await section.getByText('This address is not checked').waitFor()
      expect(await section.getByRole('img', { name: 'QR code of the deposit address' }).count()).toBe(1)
      const address = await section.locator('.whole-address code').last().innerText()
      await look(page, 'deposit-address')
      const client = createDevnetClient(network.devnet, network.user)
      await send(client, network.contracts.weth, 'transfer', [address as `0x${string}`, 10n ** 18n])
      await page.getByText('Filled: you have the output').waitFor(PATIENCE)
    })

    it('refuses to deposit when the user refuses in the wallet, and goes back to the quotes', async () => {
      const page = await openPage({ account: stage.network.user.address })
      await page.addInitScript(`{
      addEventListener('eip6963:announceProvider', ({ detail }) => {
        const { request } = detail.provider
        detail.provider.request = (call) => call.method === 'eth_sendTransaction' ? Promise.reject({ code: 4001, message: 'no' }) : request(call)
      })
    }`)
      await swap(page)
      await page.getByRole('alert').getByText('You refused the request in the wallet.').waitFor(PATIENCE)
      await button(page, 'Back to the quotes').click()
      await button(page, 'Swap').waitFor(PATIENCE)
    })

    it('shows an order that is not filled, and refunds it through the wallet', async () => {
      const page = await openPage({ account: stage.network.user.address })
      bestSolver().pause()
      onTestFinished(() => bestSolver().resume())
      await swap(page)
      await page.getByText('Waiting for the solver').waitFor(PATIENCE)
      await page.getByRole('link', { name: 'See the order' }).click()
      await page.locator('.hero-state').getByText('deposited').waitFor(PATIENCE)
      await look(page, 'order-waiting')
      await button(page, 'Refund').waitFor(PATIENCE)
      // Nodes estimate the gas of a call at the last block, whose time must be after the deadline.
      await node().mine({ blocks: 1 })
      await button(page, 'Refund').click()
      await page.locator('.hero-state').getByText('refunded').waitFor(PATIENCE)
    })

    it('returns the tokens at a deposit address that no solver has filled, through the wallet', async () => {
      const { network } = stage
      const { user, contracts } = network
      const client = createDevnetClient(network.devnet, user)
      const page = await openPage({ account: user.address })
      bestSolver().pause()
      onTestFinished(() => bestSolver().resume())
      await shown.open(stage.swapLink({ for: user.address, mode: 'address' }))
      await button(page, 'Get the deposit address').click(PATIENCE)
      const address = await page.locator('.whole-address code').last().innerText()
      await send(client, contracts.weth, 'transfer', [address as `0x${string}`, 10n ** 18n])
      await page.getByText('Send nothing to this address any more.').waitFor(PATIENCE)
      await page.getByRole('link', { name: 'See the order' }).click()
      const deposit = page.getByRole('region', { name: 'Deposit address' })
      await deposit.getByText('The solver has not filled this order in time.').waitFor(PATIENCE)
      const before = await balanceOf(client, contracts.weth)
      await node().mine({ blocks: 1 })
      await button(page, 'Connect wallet').click()
      await deposit.getByText('At the deposit address: 1').waitFor(PATIENCE)
      await look(page, 'address-refund')
      await button(page, 'Refund').click()
      await page.locator('.hero-state').getByText('refunded').waitFor(PATIENCE)
      expect((await balanceOf(client, contracts.weth)) - before).toBe(10n ** 18n)
      await deposit.waitFor({ state: 'hidden', ...PATIENCE })
    })

    it('strikes an event through that a reorganisation has removed, and says why', async () => {
      const { network } = stage
      bestSolver().pause()
      onTestFinished(() => bestSolver().resume())
      const page = await openPage({ account: network.user.address })
      await swap(page)
      await page.getByText('Waiting for the solver').waitFor(PATIENCE)
      await page.getByRole('link', { name: 'Market' }).click()
      const first = page.getByRole('list', { name: 'Events, newest first' }).getByRole('listitem').first()
      await first.getByText('deposited').waitFor(PATIENCE)
      const node = createTestClient({ mode: 'anvil', transport: http(network.devnet.rpcUrl) })
      await node.request({ method: 'anvil_reorg', params: [1, []] } as never)
      await first.getByText('a reorganisation took block').waitFor(PATIENCE)
      expect(await first.evaluate((line) => line.className)).toContain('removed')
      await look(page, 'tape-removed')
    })

    it('says that the connection is lost, and recovers with the events that it missed', async () => {
      const cable = await startCable(stage.network.serviceUrl)
      onTestFinished(() => cable.close())
      const page = await openPage({ baseUrl: cable.url })
      await shown.open('market')
      const lines = page.getByRole('list', { name: 'Events, newest first' }).getByRole('listitem')
      await page.locator('.panel-head .state', { hasText: 'live' }).waitFor(PATIENCE)
      await lines.first().waitFor(PATIENCE)
      const before = await lines.count()
      cable.silence()
      // Nothing but an unanswered question shows that a quiet connection is lost.
      await page.getByText('Connection lost.').waitFor({ timeout: 45_000 })
      await look(page, 'connection-lost')
      const other = await openPage({ account: stage.network.user.address })
      await swap(other)
      await other.getByText('Filled: you have the output').waitFor(PATIENCE)
      cable.restore()
      await page.getByText('Connection lost.').waitFor({ state: 'hidden', ...PATIENCE })
      await eventually(
        () => lines.count(),
        (count) => count === before + 2,
      )
    })
  },
)
