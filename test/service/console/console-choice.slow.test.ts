import { existsSync } from 'node:fs'
import { describe, expect, it } from 'vitest'
import { runScenario } from '../../../packages/cli/src/devnet/scenario.js'
import { button, look, PAGE_WAIT, steps, useConsole } from '../../support/console/swap-page.js'
import { REFUSED, type WalletAnswer } from '../../support/console/wallet.js'
import { CHROMIUM } from '../../support/packages/chromium.js'

const UNKNOWN_CHAIN = { error: { code: 4902, message: 'Unrecognized chain ID.' } }

describe.skipIf(!existsSync(CHROMIUM))(
  `what people decide by (needs ${CHROMIUM})`,
  { timeout: 120_000 },
  () => {
    const stage = useConsole({ DEFAULT_FILL_WINDOW: '5', PUBLIC_RPC_URL_31337: 'https://rpc.example' })
    const account = () => stage.network.user.address
    const buyField = { name: 'You buy', exact: true } as const

    it('any offer can be taken: the form, the sentence and the swap have its amounts', async () => {
      const { page, open } = await stage.openPage({ account: account() })
      await open(stage.swapLink())
      await button(page, 'Connect wallet').click(PAGE_WAIT)
      const ranking = page.getByRole('region', { name: 'Ranking of the solvers' })
      await ranking.getByRole('radio', { name: 'Take the offer of Beatrix' }).check(PAGE_WAIT)
      await page.getByText('Offer of Beatrix').waitFor(PAGE_WAIT)
      const amount = page.getByLabel(buyField.name, { exact: true })
      expect(await amount.inputValue()).toBe('2\u202f497')
      const sentence = page.locator('.what-happens')
      expect(await sentence.innerText()).toMatch(
        /^You get exactly 2\u202f497\s+USDC, or you take your 1\s+WETH back after \d\d:\d\d:\d\d \(in .*\), with 124\.85 bUSD of the solver's bond\. No fee, no slippage\./,
      )
      await page.getByText(/a miss of 1\s+USDC\s+costs it\s+0\.05\s+bUSD/).waitFor(PAGE_WAIT)
      await look(page, 'swap-chosen')
      await button(page, 'Swap').click(PAGE_WAIT)
      await page.locator('.checklist').getByText('Beatrix').waitFor(PAGE_WAIT)
      await steps(page).getByText('You received 2\u202f497 USDC').waitFor(PAGE_WAIT)
    })

    it('after a no in the wallet, the same offer can be tried again', async () => {
      let isRefusing = true
      const answer: WalletAnswer = (method) =>
        isRefusing && /sendTransaction|sendCalls/.test(method) ? REFUSED : undefined
      const { page, open } = await stage.openPage({ account: account(), answer })
      await stage.swap({ page, open })
      const notice = page.getByRole('alert').filter({ hasText: 'You refused the request in the wallet.' })
      await notice.waitFor(PAGE_WAIT)
      expect(await notice.getAttribute('class')).toBe('notice')
      const order = page.locator('.checklist .facts a[href*="#/order/"]')
      const before = await order.getAttribute('title')
      isRefusing = false
      await button(page, 'Try again').click(PAGE_WAIT)
      await steps(page).getByText('You received').waitFor(PAGE_WAIT)
      expect(await order.getAttribute('title')).toBe(before)
    })

    it('the balance can be sold as a whole, and the search of the token dialog has the focus', async () => {
      const { page, open } = await stage.openPage({ account: account() })
      await open(stage.swapLink())
      await button(page, 'Connect wallet').click(PAGE_WAIT)
      await page
        .getByText(/^Balance/)
        .nth(1)
        .waitFor(PAGE_WAIT)
      await button(page, 'Invert the rate').first().click(PAGE_WAIT)
      await page
        .getByText(/^1\s*USDC\s*=/)
        .first()
        .waitFor(PAGE_WAIT)
      await button(page, 'Max').click(PAGE_WAIT)
      expect(Number(await page.getByLabel('You sell exactly').inputValue())).toBeGreaterThan(1000)
      await page.locator('.token-button').last().click()
      await page.keyboard.type('coin')
      const dialog = page.getByRole('dialog', { name: 'Choose a token' })
      await dialog.getByText('USD Coin').waitFor(PAGE_WAIT)
      expect(await dialog.getByRole('listitem').count()).toBe(1)
      expect(await dialog.locator('.amount').innerText()).toMatch(/\d/)
    })

    it('a wallet that does not know the chain is given its public node', async () => {
      const asked: [method: string, params: unknown][] = []
      const answer: WalletAnswer = (method, params) => {
        if (!method.endsWith('EthereumChain')) return method === 'eth_chainId' ? { result: '0x1' } : undefined
        asked.push([method, params[0]])
        return asked.length === 1 ? UNKNOWN_CHAIN : { result: null }
      }
      const { page, open } = await stage.openPage({ account: account(), answer })
      await open(stage.swapLink())
      await button(page, 'Connect wallet').click(PAGE_WAIT)
      await button(page, /^Switch the wallet to /).click(PAGE_WAIT)
      await button(page, /^Switch the wallet to /).waitFor({ state: 'detached', ...PAGE_WAIT })
      const switched = ['wallet_switchEthereumChain', { chainId: '0x7a69' }]
      const added = { chainId: '0x7a69', chainName: 'Demo chain', rpcUrls: ['https://rpc.example'] }
      expect(asked).toEqual([switched, ['wallet_addEthereumChain', expect.objectContaining(added)], switched])
    })

    it('a refunded order says what came of the bond, and no surplus', async () => {
      await runScenario(stage.network, () => {})
      const { page, open } = await stage.openPage()
      await open('orders?state=refunded')
      await page
        .getByRole('row', { name: /refunded/ })
        .first()
        .click(PAGE_WAIT)
      await page.getByText("Compensation of the solver's bond").waitFor(PAGE_WAIT)
      await page.getByText(/^12\d\.\d+ bUSD$/).waitFor(PAGE_WAIT)
      expect(await page.getByText('Surplus').count()).toBe(0)
      await look(page, 'order-refunded')
    })

    it('a solver that is gone cannot be reached, and its page says so', async () => {
      const [, beatrix] = stage.network.solvers
      await beatrix?.close()
      const { page, open } = await stage.openPage()
      await open(stage.swapLink())
      await page.getByText('3 of 3 answered').waitFor(PAGE_WAIT)
      await open(`solver/${beatrix?.account.address}`)
      await page.getByText('Cannot be reached').waitFor(PAGE_WAIT)
    })
  },
)
