import { existsSync, readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { chromium, type Page } from 'playwright-core'
import type { Hex } from 'viem'
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from 'vitest'
import { settlementAbi } from '../../../gen/contracts/settlement.js'
import { mined } from '../../../packages/cli/src/devnet/deploy.js'
import { solverAccounts, startChain, user } from '../../support/chain/chain.js'
import { createCalls } from '../../support/chain/contract-calls.js'
import { CHROMIUM } from '../../support/packages/chromium.js'
import { startService } from '../../support/service/service.js'
import { shared } from '../../support/shared.js'
import { honest, startSolver } from '../../support/solvers/solver.js'
import { createWalletProject } from './wallet-project.js'

const BUILD_MS = 100_000
const INPUT = 10n ** 18n
const OUTPUT = 2_500_000_000n
const FIRST_OUTPUT = 2_400_000_000n
const [account] = solverAccounts
/** The contracts of a new chain always have the same addresses. */
const TOKEN_LIST = fileURLToPath(new URL('../../support/console/token-list.json', import.meta.url))

const projectMade = createWalletProject()
// Awaited below; a chain that does not start must not make a second, unheard failure of it.
projectMade.catch(() => {})
const chain = await shared(startChain({ bonded: 1 }))
const calls = createCalls(chain.devnet, chain.contracts.settlement)
await calls.fund(chain.contracts.usdc, account, 2n * OUTPUT)
await calls.mint(chain.contracts.weth, user.address, 3n * INPUT)
const service = await shared(
  startService(chain, {
    [`POLL_INTERVAL_MS_${chain.chainId}`]: '20',
    [`TOKEN_LIST_${chain.chainId}`]: TOKEN_LIST,
  }),
)
const solver = await shared(startSolver(chain, account, honest({ output: String(FIRST_OUTPUT) })))
await solver.register(service)
const project = await projectMade

afterAll(() => project.remove())

const versionOf = (manifest: string) => JSON.parse(readFileSync(manifest, 'utf8')).dependencies.viem

it(
  'the packed client uses the viem of the app, which is another one than this repository has',
  async () => {
    const own = versionOf('package.json')
    const theirs = versionOf(`${project.app}/package.json`)
    expect(theirs).not.toBe(own)
    expect(await project.viemVersions()).toEqual([`viem@${theirs}`])
  },
  BUILD_MS,
)

it(
  'the app type-checks strictly',
  async () => {
    expect(await project.compile()).toBe('')
  },
  BUILD_MS,
)

describe('the app, built by Vite', () => {
  beforeAll(async () => {
    const { contracts, devnet } = chain
    await project.build({
      VITE_AGGREGATOR_URL: service.url,
      VITE_RPC_URL: devnet.rpcUrl,
      VITE_SETTLEMENT: contracts.settlement,
      VITE_INPUT_TOKEN: contracts.weth,
      VITE_OUTPUT_TOKEN: contracts.usdc,
    })
  }, BUILD_MS)

  it('is a page with a script', async () => {
    expect(readFileSync(`${project.app}/dist/index.html`, 'utf8')).toMatch(
      /<script type="module"[^>]* src="\/assets\//,
    )
  })

  it.skipIf(!existsSync(CHROMIUM))(
    `in a browser connects, follows the price, checks a quote, deposits and shows the order to its end (needs ${CHROMIUM})`,
    async () => {
      const { page, url } = await openPage()
      const problems: string[] = []
      page.on('pageerror', ({ message }) => void problems.push(message))
      page.on('console', (message) => void (message.type() === 'error' && problems.push(message.text())))
      await page.goto(url)
      await page.getByText('About 2400 USDC for 1 WETH').waitFor()
      await page.getByText(/^On .+\. Tokens: WETH, USDC$/).waitFor()
      await button(page, 'Connect wallet').click()
      await page.getByText('1 WETH for 2400 USDC').waitFor()
      solver.behave(honest({ output: String(OUTPUT) }))
      await page.getByText('1 WETH for 2500 USDC').waitFor()
      await button(page, 'Swap').click()
      await page.getByRole('status').getByText('DEPOSITED').waitFor()
      await page.evaluate(COMES_BACK)
      await calls.send(account, 'fill', [await depositedOrder()])
      await page.getByRole('status').getByText('SETTLED').waitFor()
      expect(await calls.balanceOf(chain.contracts.usdc, user.address)).toBe(OUTPUT)
      expect(await page.getByRole('alert').count()).toBe(0)
      expect(problems).toEqual([])
    },
  )

  it.skipIf(!existsSync(CHROMIUM))(
    `in a browser shows the order of a deposit that its user confirms after a reload, to its end, and after it (needs ${CHROMIUM})`,
    async () => {
      const { page, url } = await openPage()
      await page.goto(url)
      await page.evaluate(HOLDS_DEPOSITS)
      await button(page, 'Connect wallet').click()
      await button(page, 'Swap').click()
      const asked = await page.waitForFunction('localStorage.asked')
      const { from, to, data } = JSON.parse(String(await asked.jsonValue()))
      await page.reload()
      await page.getByRole('alert').waitFor()
      const deposit = { account: from, to, data, chain: null }
      await mined(calls.client, await calls.client.sendTransaction(deposit))
      await calls.send(account, 'fill', [await depositedOrder()])
      await page.getByRole('status').getByText('SETTLED').waitFor()
      await button(page, 'Swap').waitFor()
      expect(await page.getByRole('alert').count()).toBe(0)
      await page.reload()
      await page.getByText('Your last swap: SETTLED').waitFor()
    },
  )

  it.skipIf(!existsSync(CHROMIUM))(
    `in a browser, a wallet that starts on another network swaps with the first click after its switch, in the small page of docs/client.md (needs ${CHROMIUM})`,
    async () => {
      const { page, url } = await openPage()
      await page.addInitScript(STARTS_ELSEWHERE)
      await page.goto(`${url}#small`)
      await button(page, 'Connect wallet').click()
      await button(page, 'Switch network').click()
      await page.getByText('You get 2500').waitFor()
      await button(page, 'Swap').click()
      await page.getByRole('status').getByText('DEPOSITED').waitFor()
      expect(await page.getByRole('alert').count()).toBe(0)
    },
  )
})

/** Has the wallet start on another network. */
const STARTS_ELSEWHERE = 'localStorage.network ??= "0x1"'
/** Has the wallet ask its user for deposits, and approve at once. */
const HOLDS_DEPOSITS = 'localStorage.holds = true'
const COMES_BACK = 'window.dispatchEvent(new Event("visibilitychange"))'
const button = (page: Page, name: string) => page.getByRole('button', { name })

async function openPage() {
  const site = await project.serve()
  onTestFinished(() => site.close())
  const browser = await chromium.launch({ executablePath: CHROMIUM, args: ['--no-sandbox'] })
  onTestFinished(() => browser.close())
  const page = await browser.newPage()
  await bringWallet(page)
  return { page, url: site.url }
}

/** A browser wallet (EIP-1193) with the user's account, which the local chain signs for. */
async function bringWallet(page: Page): Promise<void> {
  const wallet = ({ rpcUrl, address }: { rpcUrl: string; address: string }) => {
    const { localStorage } = globalThis as unknown as { localStorage: Record<string, string> }
    const isApproval = (call: unknown) => `${(call as { data?: string }).data}`.startsWith('0x095ea7b3')
    const listeners: ((network: string) => void)[] = []
    const on = (event: string, listen: (network: string) => void) =>
      event === 'chainChanged' && listeners.push(listen)
    const request = async ({ method, params = [] }: { method: string; params?: unknown[] }) => {
      if (method === 'eth_accounts' || method === 'eth_requestAccounts') return [address]
      if (method === 'eth_chainId' && localStorage.network) return localStorage.network
      if (method === 'wallet_switchEthereumChain') {
        localStorage.network = (params[0] as { chainId: string }).chainId
        for (const listen of listeners) listen(localStorage.network)
        return null
      }
      if (method === 'eth_sendTransaction' && localStorage.holds && !isApproval(params[0])) {
        localStorage.asked = JSON.stringify(params[0])
        return new Promise(() => {})
      }
      const body = JSON.stringify({ jsonrpc: '2.0', id: 1, method, params })
      const headers = { 'content-type': 'application/json' }
      const answer = await fetch(rpcUrl, { method: 'POST', headers, body })
      const { result, error } = (await answer.json()) as { result?: unknown; error?: unknown }
      if (error) throw error
      return result
    }
    Object.assign(globalThis, { ethereum: { request, on, removeListener() {} } })
  }
  await page.addInitScript(wallet, { rpcUrl: chain.devnet.rpcUrl, address: user.address })
}

async function depositedOrder(): Promise<Hex> {
  const events = await calls.client.getContractEvents({
    abi: settlementAbi,
    address: chain.contracts.settlement,
    eventName: 'Deposited',
    fromBlock: 0n,
  })
  const orderId = events.at(-1)?.args.orderId
  if (orderId === undefined) throw new Error('the chain has no deposit')
  return orderId
}
