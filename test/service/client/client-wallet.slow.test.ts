import { existsSync, readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { chromium, type Page } from 'playwright-core'
import { type Address, type Hex, toFunctionSelector } from 'viem'
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from 'vitest'
import { settlementAbi } from '../../../gen/contracts/settlement.js'
import { mined } from '../../../packages/cli/src/devnet/deploy.js'
import { solverAccounts, startChain, user } from '../../support/chain/chain.js'
import { createCalls } from '../../support/chain/contract-calls.js'
import { bringWallet, type WalletAnswer } from '../../support/console/wallet.js'
import { CHROMIUM } from '../../support/packages/chromium.js'
import { startService } from '../../support/service/service.js'
import { shared } from '../../support/shared.js'
import { honest, startSolver } from '../../support/solvers/solver.js'
import { createWalletProject } from './client-project.js'

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
    const theirs = versionOf(`${project.folder}/package.json`)
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
      const deposits: { from: Address; to: Address; data: Hex }[] = []
      const { page, url } = await openPage((method, [call]) => {
        const asked = call as (typeof deposits)[number]
        if (method !== 'eth_sendTransaction' || asked.data.startsWith(APPROVE)) return undefined
        deposits.push(asked)
        return new Promise(() => {})
      })
      await page.goto(url)
      await button(page, 'Connect wallet').click()
      await button(page, 'Swap').click()
      await expect.poll(() => deposits).toHaveLength(1)
      await page.reload()
      await page.getByRole('alert').waitFor()
      for (const { from: account, to, data } of deposits)
        await mined(calls.client, await calls.client.sendTransaction({ account, to, data, chain: null }))
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
      let network: unknown = '0x1'
      const { page, url } = await openPage((method, params) => {
        if (method === 'eth_chainId') return { result: network }
        if (method !== 'wallet_switchEthereumChain') return undefined
        network = (params[0] as { chainId: Hex }).chainId
        return { result: null }
      })
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

const APPROVE = toFunctionSelector('approve(address,uint256)')
const COMES_BACK = 'window.dispatchEvent(new Event("visibilitychange"))'
/** Has the page find the wallet as one that was made before EIP-6963: wagmi would connect a newer one without a click. */
const AS_ETHEREUM = `
  addEventListener('eip6963:announceProvider', (event) => {
    globalThis.ethereum = event.detail.provider
    event.stopImmediatePropagation()
  })
  dispatchEvent(new Event('eip6963:requestProvider'))`
const button = (page: Page, name: string) => page.getByRole('button', { name })

/** Opens the site in a browser with a wallet. @param answer what it answers in place of the node */
async function openPage(answer?: WalletAnswer) {
  const site = await project.serve()
  onTestFinished(() => site.close())
  const browser = await chromium.launch({ executablePath: CHROMIUM, args: ['--no-sandbox'] })
  onTestFinished(() => browser.close())
  const page = await browser.newPage()
  await bringWallet(page, { rpcUrl: chain.devnet.rpcUrl, account: user.address, answer })
  await page.addInitScript(AS_ETHEREUM)
  return { page, url: site.url }
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
