import { existsSync } from 'node:fs'
import type { Page, Request, WebSocket } from 'playwright-core'
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from 'vitest'
import { startChain, type TestChain } from '../../support/chain/chain.js'
import { createTraffic, type Traffic } from '../../support/chain/event-traffic.js'
import { type ConsoleBrowser, setHidden, startBrowser } from '../../support/console/console.js'
import { eventually } from '../../support/eventually.js'
import { startCable } from '../../support/faults/cable.js'
import { startRpcProxy } from '../../support/faults/rpc-proxy.js'
import { CHROMIUM } from '../../support/packages/chromium.js'
import { startEventService } from '../../support/service/event-service.js'
import type { TestService } from '../../support/service/service.js'

const START_MS = 120_000
const PAGE_WAIT = { timeout: 30_000 }
const SOLVER = `0x${'5'.repeat(40)}`

let chain: TestChain
let traffic: Traffic
let service: TestService
let browser: ConsoleBrowser

/** Shorter than the console waits for any answer: what it asks is answered before more time passes. */
const STEP_S = 4

/** Opens a place whose time also passes as the test wants. @param url of the service when left out */
async function openAt(place: string, url = service.url) {
  const { page, open } = await browser.openPage(url)
  onTestFinished(() => page.context().close())
  await page.clock.install()
  const made: string[] = []
  const unanswered = new Set<Request | WebSocket>()
  page.on('request', (request) => {
    made.push(new URL(request.url()).pathname.split('/').at(-1) ?? '')
    unanswered.add(request)
  })
  page.on('requestfinished', (request) => unanswered.delete(request))
  page.on('requestfailed', (request) => unanswered.delete(request))
  page.on('websocket', (socket) => {
    unanswered.add(socket)
    socket.on('framereceived', () => unanswered.delete(socket))
    socket.on('close', () => unanswered.delete(socket))
  })
  const settle = () =>
    eventually(
      async () => [...unanswered].map((each) => each.url()),
      ({ length }) => length === 0,
    )
  await open(place)
  await page.getByRole('img', { name: `Chain ${chain.chainId} is ok` }).waitFor(PAGE_WAIT)
  await settle()
  return {
    page,
    /** Lets time pass in the page, and has its requests and its streams answered. */
    async pass(seconds: number) {
      for (let left = seconds; left > 0; left -= STEP_S) {
        await page.clock.runFor(Math.min(STEP_S, left) * 1000)
        await settle()
      }
    },
    /** The requests since the last call, by the last part of their path. */
    takeRequests(): Record<string, number> {
      const counts: Record<string, number> = {}
      for (const name of made.splice(0)) counts[name] = (counts[name] ?? 0) + 1
      return counts
    },
  }
}

const isLive = (page: Page) => page.locator('.panel-head .state', { hasText: 'live' }).waitFor(PAGE_WAIT)

/** Mines a deposit, and waits until the list of events has it. */
async function deposit(page: Page): Promise<void> {
  const order = traffic.order()
  await traffic.mine([traffic.actions.deposit(order)])
  await page.locator(`.event-list-line a[title="${order.orderId}"]`).first().waitFor(PAGE_WAIT)
}

describe.skipIf(!existsSync(CHROMIUM))(
  `requests of the console (needs ${CHROMIUM})`,
  { timeout: 90_000 },
  () => {
    beforeAll(async () => {
      ;[chain, browser] = await Promise.all([startChain({ bonded: 0 }), startBrowser()])
      traffic = await createTraffic(chain, { seed: 5 })
      service = await startEventService([chain])
    }, START_MS)
    afterAll(async () => {
      await browser?.close()
      await service?.close()
      await chain?.stop()
    })

    it('are few while events show that the instance and its chain live', async () => {
      const { page, pass, takeRequests } = await openAt('market')
      await isLive(page)
      await pass(5)
      takeRequests()
      await deposit(page)
      await pass(5)
      takeRequests()
      // A pointer that rests on what changes is no sign of a person. Browsers report it at times of their own.
      const rest = `document.querySelector('.event-list').dispatchEvent(new PointerEvent('pointermove', { bubbles: true }))`
      for (let count = 0; count < 70; count++) {
        await deposit(page)
        await page.evaluate(rest)
        await pass(12)
      }
      // The statistics are read once more when the stream began after they were. The chains are read again when the state of one has changed.
      const { ListSolverStats = 0, ListChains = 0, ListPairs = 0, ...others } = takeRequests()
      expect(ListPairs).toBeLessThanOrEqual(2)
      expect(ListSolverStats).toBeLessThanOrEqual(1)
      expect(ListChains).toBeLessThanOrEqual(1)
      expect(others).toEqual({})
    })

    it.each([
      ['moves the pointer', (page: Page) => page.mouse.move(400, 300, { steps: 3 })],
      ['presses a key', (page: Page) => page.keyboard.press('Shift')],
      ['turns the wheel', (page: Page) => page.mouse.wheel(0, 10)],
      ['touches', (page: Page) => page.evaluate(`dispatchEvent(new Event('touchstart'))`)],
      ['comes to the window', (page: Page) => page.evaluate(`dispatchEvent(new FocusEvent('focus'))`)],
    ] as const)('are made at once when somebody %s after a while, and not again soon', async (_, act) => {
      const { page, pass, takeRequests } = await openAt('market')
      await isLive(page)
      for (let count = 0; count < 14; count++) {
        await deposit(page)
        await pass(10)
      }
      takeRequests()
      await act(page)
      const asked: Record<string, number> = {}
      await eventually(
        async () => Object.assign(asked, takeRequests()),
        () => Object.keys(asked).length > 1,
      )
      expect(asked).toEqual({ ListSolverStats: 1, ListPairs: 1 })
      for (let count = 0; count < 4; count++) {
        await deposit(page)
        await act(page)
        await pass(10)
      }
      expect(takeRequests()).toEqual({})
    })

    it('are not needed to see that a chain without events lives, or has stopped', async () => {
      const rpc = await startRpcProxy(chain.devnet.rpcUrl)
      onTestFinished(() => rpc.close())
      const own = await startEventService([chain], { [`RPC_URL_${chain.chainId}`]: rpc.url })
      onTestFinished(() => own.close())
      const { page, pass, takeRequests } = await openAt('market', own.url)
      await isLive(page)
      // Orders that were read before the stream began are read again.
      await pass(8)
      takeRequests()
      rpc.setUp(false)
      await page.getByRole('img', { name: `Chain ${chain.chainId} is down` }).waitFor(PAGE_WAIT)
      rpc.setUp(true)
      await page.getByRole('img', { name: `Chain ${chain.chainId} is ok` }).waitFor(PAGE_WAIT)
      // The chains are read again when the state of one has changed.
      const { ListChains = 0, ...others } = takeRequests()
      expect(ListChains).toBeLessThanOrEqual(2)
      expect(others).toEqual({})
    })

    it('open the stream of events again when it has brought no message for long', async () => {
      const { page, pass } = await openAt('market')
      await isLive(page)
      const streams: string[] = []
      page.on('websocket', (socket) => streams.push(socket.url()))
      await pass(20)
      expect(streams).toEqual([])
      await pass(25)
      await isLive(page)
      expect(streams).toHaveLength(1)
      await deposit(page)
    })

    it.each(['market', 'solvers', `solver/${SOLVER}`, 'orders', 'swap'])(
      'of the place %s rest while its tab is hidden',
      async (place) => {
        const { page, pass, takeRequests } = await openAt(place)
        await pass(5)
        await setHidden(page, true)
        takeRequests()
        for (let minute = 0; minute < 10; minute++) await pass(60)
        expect(takeRequests()).toEqual({})
        const reopened = page.waitForEvent('websocket')
        await setHidden(page, false)
        await reopened
      },
    )

    it('after an event are made although other events follow without a pause', async () => {
      const { page, pass, takeRequests } = await openAt('market')
      await isLive(page)
      await page.getByRole('link', { name: 'Orders', exact: true }).click()
      await page.locator('tbody tr').first().waitFor(PAGE_WAIT)
      await pass(10)
      takeRequests()
      const rows = page.locator('tbody a[href^="#/order/"]')
      for (let count = 0; count < 80; count++) {
        const order = traffic.order()
        await traffic.mine([traffic.actions.deposit(order)])
        await pass(0.05)
      }
      expect(takeRequests().ListOrders).toBeGreaterThanOrEqual(2)
      expect(await rows.count()).toBeGreaterThan(0)
    })

    it('are not made for events that come together, which are shown together', async () => {
      const { page, pass, takeRequests } = await openAt('market')
      await isLive(page)
      await pass(5)
      takeRequests()
      await page.evaluate(`{
        globalThis.changes = 0
        new MutationObserver(() => globalThis.changes++).observe(document.querySelector('.event-list'), { childList: true })
      }`)
      const orders = Array.from({ length: 60 }, () => traffic.order())
      await traffic.mine(orders.map((order) => traffic.actions.deposit(order)))
      const shown = page.locator('.event-list-line.fresh')
      await eventually(
        () => shown.count(),
        (count) => count >= orders.length,
      )
      expect(await page.evaluate('globalThis.changes')).toBeLessThanOrEqual(10)
      expect(takeRequests()).toEqual({})
    })

    it('read the chains again after the stream of events was interrupted', async () => {
      const cable = await startCable(service.url)
      onTestFinished(() => cable.close())
      const { page, pass, takeRequests } = await openAt('market', cable.url)
      await isLive(page)
      await pass(15)
      takeRequests()
      cable.cut()
      await page.getByText('Connection lost.').waitFor(PAGE_WAIT)
      await pass(3)
      await isLive(page)
      await pass(1)
      expect(takeRequests()).toMatchObject({ ListChains: 1 })
    })

    it('read the fill rates every ten minutes while the instance refuses a stream of events', async () => {
      const strict = await startEventService([chain], { MAX_STREAM_CLIENTS_PER_IP: '1' })
      onTestFinished(() => strict.close())
      const first = await openAt('market', strict.url)
      await isLive(first.page)
      const { page, pass, takeRequests } = await openAt('market', strict.url)
      await page.getByText('Connection lost.').waitFor(PAGE_WAIT)
      takeRequests()
      for (let minute = 0; minute < 25; minute++) await pass(60)
      const { ListSolverStats = 0 } = takeRequests()
      expect(ListSolverStats).toBeGreaterThanOrEqual(1)
      expect(ListSolverStats).toBeLessThanOrEqual(3)
    })

    it('go on while the instance refuses a stream of events', async () => {
      const strict = await startEventService([chain], { MAX_STREAM_CLIENTS_PER_IP: '1' })
      onTestFinished(() => strict.close())
      const first = await openAt('market', strict.url)
      await isLive(first.page)
      const { page, pass, takeRequests } = await openAt('orders', strict.url)
      await page.getByText('Connection lost.').waitFor(PAGE_WAIT)
      takeRequests()
      for (let second = 0; second < 60; second += 5) await pass(5)
      const { health = 0, ListOrders = 0 } = takeRequests()
      expect(health).toBeGreaterThanOrEqual(4)
      expect(ListOrders).toBeGreaterThanOrEqual(1)
    })
  },
)
