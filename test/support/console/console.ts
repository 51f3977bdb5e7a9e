import { mkdirSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { createAggregatorClient } from '@quote-aggregator/client'
import { type Browser, type BrowserContextOptions, chromium, type Page } from 'playwright-core'
import type { Address } from 'viem'
import { type Network, startNetwork } from '../../../packages/cli/src/devnet/network.js'
import { buildConsole } from '../../../src/operator/demo/build-console.js'
import { startServiceInProcess } from '../../../src/operator/demo/service-in-process.js'
import { eventually } from '../eventually.js'
import { freePort } from '../free-port.js'
import { CHROMIUM } from '../packages/chromium.js'
import { bringWallet, type WalletAnswer, type WalletOptions } from './wallet.js'

const NO_LIMITS = {
  RATE_LIMIT_MAX: '0',
  RATE_LIMIT_QUOTE: '0',
  RATE_LIMIT_PRICE: '0',
  RATE_LIMIT_ORDER: '0',
  RATE_LIMIT_SOLVERS: '0',
  RATE_LIMIT_REGISTER: '0',
  MAX_STREAM_CLIENTS_PER_IP: '0',
}
/** The contracts of the local network always have the same addresses. */
const TOKEN_LIST = fileURLToPath(new URL('token-list.json', import.meta.url))
/** Screenshots go here; git ignores the folder. */
const SCREENSHOTS = 'test/.screenshots'

export type TestConsole = Awaited<ReturnType<typeof startConsole>>
export type ConsoleBrowser = Awaited<ReturnType<typeof startBrowser>>

/** A page of the console, with all that went wrong in it. */
export interface ConsolePage {
  readonly page: Page
  /** Goes to a place of the console, such as `market`. Without a wallet, the address of a link (`for=`) to a transfer is confirmed by a click. */
  open(place: string): Promise<void>
  /** Errors of scripts, violations of the content security policy, and requests to other hosts. */
  readonly problems: readonly string[]
}

interface PageOptions extends BrowserContextOptions {
  /** What an injected wallet has; without one, the browser has no wallet. */
  readonly wallet?: WalletOptions
}

interface NetworkPageOptions extends BrowserContextOptions {
  /** The account of an injected wallet; without one, the browser has no wallet. */
  readonly account?: Address
  /** What that wallet answers in place of the node. */
  readonly answer?: WalletAnswer
  /** Where the page is; the service itself when left out. */
  readonly baseUrl?: string
}

/** The built console, and a browser that opens it at any service. */
export async function startBrowser() {
  await buildConsole(() => {})
  const browser = await chromium.launch({ executablePath: CHROMIUM, args: ['--no-sandbox'] })
  return {
    /** Opens a page in a context of its own. */
    openPage: (baseUrl: string, options: PageOptions = {}) => openPage(browser, baseUrl, options),
    close: () => browser.close(),
  }
}

/** The local network of the demo with its built console, and a browser. */
export async function startConsole(environment: Record<string, string> = {}) {
  const browser = await startBrowser()
  try {
    const network = await startNetwork({
      environment: {
        DEFAULT_FILL_WINDOW: '5',
        LOG_LEVEL: 'silent',
        TOKEN_LIST_31337: TOKEN_LIST,
        ...NO_LIMITS,
        ...environment,
      },
      // Another file may start at the same time, and both would find the usual ports free.
      servicePort: 0,
      chainPort: 0,
      solverPort: await freePort(),
      onError: () => {},
      startService: startServiceInProcess,
    })
    const { rpcUrl, chainId } = network.devnet
    const { weth: inputToken, usdc: outputToken } = network.contracts
    const swap = { chainId, inputToken, outputToken, orderType: 'EXACT_INPUT', amount: 10n ** 18n } as const
    const client = createAggregatorClient({ baseUrl: network.serviceUrl })
    // After a start on a busy machine, solvers decline until their transactions are fast enough for the fill window.
    await eventually(
      () => client.getPrice(swap).catch(() => undefined),
      (price) => price?.offers === network.solvers.length,
    )
    return {
      network,
      /** The link that the demo prints, with what it says of the tokens. */
      swapLink: (changes: Record<string, string> = {}) => swapLink(network, changes),
      /** Opens a page in a context of its own. */
      openPage: ({ account, answer, baseUrl = network.serviceUrl, ...context }: NetworkPageOptions = {}) =>
        browser.openPage(baseUrl, { ...context, ...(account && { wallet: { rpcUrl, account, answer } }) }),
      async close() {
        await browser.close()
        await network.close()
      },
    }
  } catch (error) {
    await browser.close()
    throw error
  }
}

async function openPage(
  browser: Browser,
  baseUrl: string,
  { wallet, ...context }: PageOptions,
): Promise<ConsolePage> {
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
  if (wallet !== undefined) await bringWallet(page, wallet)
  return {
    page,
    problems,
    async open(place) {
      await page.goto(`${baseUrl}/#/${place}`)
      if (place.includes('for=')) await takeAddress(page)
    },
  }
}

/** Confirms the address of a link, and waits until the auction is for it, if there is one. A connected wallet has its own address. */
async function takeAddress(page: Page): Promise<void> {
  const use = page.getByRole('button', { name: 'Use this address' })
  await use
    .or(page.getByRole('button', { name: 'Disconnect' }))
    .first()
    .waitFor()
  if (await use.isVisible()) await use.click()
  await page
    .getByText(/^round \d+$|does not list these tokens/)
    .first()
    .waitFor()
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

/** The part of a page that is wider than the window, in pixels; 0 when none is. */
export function overflow(page: Page): Promise<number> {
  return page.evaluate('document.documentElement.scrollWidth - document.documentElement.clientWidth')
}
