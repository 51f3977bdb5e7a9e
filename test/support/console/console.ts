import { mkdirSync } from 'node:fs'
import { join } from 'node:path'
import { type Browser, type BrowserContextOptions, chromium, type Page } from 'playwright-core'
import type { Address } from 'viem'
import { buildConsole } from '../../../src/devnet/build-console.js'
import { type Network, startNetwork } from '../../../src/devnet/network.js'
import { CHROMIUM } from '../packages/chromium.js'
import { bringWallet } from './wallet.js'

const NO_LIMITS = {
  RATE_LIMIT_MAX: '0',
  RATE_LIMIT_QUOTE: '0',
  RATE_LIMIT_PRICE: '0',
  RATE_LIMIT_ORDER: '0',
  RATE_LIMIT_SOLVERS: '0',
  RATE_LIMIT_REGISTER: '0',
  MAX_STREAM_CLIENTS_PER_IP: '0',
}
/** Screenshots go here; git ignores the folder. */
const SCREENSHOTS = 'test/.screenshots'

export type TestConsole = Awaited<ReturnType<typeof startConsole>>

/** A page of the console, with all that went wrong in it. */
export interface ConsolePage {
  readonly page: Page
  /** Goes to a place of the console, such as `market`. */
  open(place: string): Promise<void>
  /** Errors of scripts, violations of the content security policy, and requests to other hosts. */
  readonly problems: readonly string[]
}

interface PageOptions extends BrowserContextOptions {
  /** The account of an injected wallet; without one, the browser has no wallet. */
  readonly account?: Address
  /** Where the page is; the service itself when left out. */
  readonly baseUrl?: string
}

/** The local network of the demo with its built console, and a browser. */
export async function startConsole(environment: Record<string, string> = {}) {
  await buildConsole(() => {})
  const network = await startNetwork({
    environment: { DEFAULT_FILL_WINDOW: '5', LOG_LEVEL: 'silent', ...NO_LIMITS, ...environment },
    onError: () => {},
    servicePort: 0,
  })
  let browser: Browser | undefined
  try {
    browser = await chromium.launch({ executablePath: CHROMIUM, args: ['--no-sandbox'] })
  } catch (error) {
    await network.close()
    throw error
  }
  const opened = browser
  return {
    network,
    /** The link that the demo prints, with what it says of the tokens. */
    swapLink: (changes: Record<string, string> = {}) => swapLink(network, changes),
    /** Opens a page in a context of its own. */
    openPage: (options: PageOptions = {}) => openPage(opened, network, options),
    async close() {
      await opened.close()
      await network.close()
    },
  }
}

async function openPage(browser: Browser, network: Network, options: PageOptions): Promise<ConsolePage> {
  const { account, baseUrl = network.serviceUrl, ...context } = options
  const page = await (await browser.newContext(context)).newPage()
  const problems: string[] = []
  page.on('pageerror', ({ message }) => void problems.push(`script: ${message}`))
  page.on('console', (message) => {
    if (/content security policy/i.test(message.text())) problems.push(`policy: ${message.text()}`)
  })
  page.on('request', (request) => {
    const { origin, protocol } = new URL(request.url())
    if (protocol.startsWith('http') && origin !== new URL(baseUrl).origin)
      problems.push(`host: ${request.url()}`)
  })
  if (account !== undefined) await bringWallet(page, { rpcUrl: network.devnet.rpcUrl, account })
  return {
    page,
    problems,
    async open(place) {
      await page.goto(`${baseUrl}/#/${place}`)
    },
  }
}

function swapLink({ contracts }: Network, changes: Record<string, string>): string {
  const query = new URLSearchParams({
    sell: `${contracts.weth}:18:WETH`,
    buy: `${contracts.usdc}:6:USDC`,
    amount: '1',
    ...changes,
  })
  return `swap?${query}`
}

/** Writes a screenshot for a person to look at. */
export async function takeScreenshot(page: Page, name: string): Promise<void> {
  mkdirSync(SCREENSHOTS, { recursive: true })
  await page.screenshot({ path: join(SCREENSHOTS, `${name}.png`), fullPage: true })
}
