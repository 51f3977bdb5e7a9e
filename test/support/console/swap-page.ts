import type { Page } from 'playwright-core'
import { createTestClient, http } from 'viem'
import { afterAll, afterEach, beforeAll, expect, onTestFinished } from 'vitest'
import { createDevnetClient } from '../../../packages/cli/src/devnet/deploy.js'
import { type ConsolePage, overflow, startConsole, type TestConsole, takeScreenshot } from './console.js'

/** Long enough for a transfer, which the client sends only with two minutes to spare. */
export const WINDOWS = {
  DEFAULT_DEPOSIT_WINDOW: '200',
  // The kit declines a fill window in which it could not pay twice, as on a busy machine.
  DEFAULT_FILL_WINDOW: '12',
  POLL_INTERVAL_MS_31337: '100',
}
export const PAGE_WAIT = { timeout: 60_000 }
const START_MS = 120_000
const DESK = { width: 1440, height: 900 }

/**
 * A console with its network for the tests of a file. After each test, it expects that nothing went wrong in its pages.
 * @param environment further variables of the service
 */
export function useConsole(environment: Record<string, string> = WINDOWS) {
  let stage: TestConsole
  const pages: ConsolePage[] = []
  const testClient = () => createTestClient({ mode: 'anvil', transport: http(stage.network.devnet.rpcUrl) })
  beforeAll(async () => {
    stage = await startConsole(environment)
  }, START_MS)
  afterAll(() => stage?.close())
  afterEach(() => {
    for (const { problems } of pages.splice(0)) expect(problems).toEqual([])
  })
  return {
    get network() {
      return stage.network
    },
    swapLink: (changes?: Record<string, string>) => stage.swapLink(changes),
    /** Opens a page that the end of the test closes. */
    async openPage(options: Parameters<TestConsole['openPage']>[0] = {}): Promise<ConsolePage> {
      const opened = await stage.openPage({ viewport: DESK, ...options })
      pages.push(opened)
      onTestFinished(() => opened.page.context().close())
      return opened
    },
    /** Opens the form, connects the injected wallet, and takes the best offer. */
    async swap({ page, open }: Pick<ConsolePage, 'page' | 'open'>): Promise<void> {
      await open(stage.swapLink())
      await button(page, 'Connect wallet').click(PAGE_WAIT)
      await button(page, 'Swap').click(PAGE_WAIT)
    },
    /** Has the solver of the best offer fill nothing until the test ends. */
    pauseBestSolver(): void {
      const [aldous] = stage.network.solvers
      if (aldous === undefined) throw new Error('the network has no solver')
      const { mayFill } = aldous
      aldous.mayFill = () => false
      onTestFinished(() => {
        aldous.mayFill = mayFill
      })
    },
    /** Moves the clocks of a page and of the chain on. */
    async passTime(page: Page, seconds: number): Promise<void> {
      await page.clock.setSystemTime(Date.now() + seconds * 1000)
      await testClient().increaseTime({ seconds })
      await testClient().mine({ blocks: 1 })
    },
    /** A client of the user's account. */
    user: () => createDevnetClient(stage.network.devnet, stage.network.user),
  }
}

export const button = (page: Page, name: string | RegExp) => page.getByRole('button', { name })
export const steps = (page: Page) => page.getByRole('list', { name: 'Steps of the swap' })

/** Writes screenshots of a state of the page, also on a phone, where it must fit. */
export async function look(page: Page, name: string): Promise<void> {
  await takeScreenshot(page, name)
  await page.setViewportSize({ width: 390, height: 844 })
  expect(await overflow(page)).toBe(0)
  await takeScreenshot(page, `${name}-390`)
  await page.setViewportSize(DESK)
}
