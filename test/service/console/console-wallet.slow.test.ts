import { existsSync } from 'node:fs'
import { type Address, encodeFunctionData, erc20Abi, type Hex, numberToHex } from 'viem'
import { describe, expect, it } from 'vitest'
import { devAccounts, send } from '../../../packages/cli/src/devnet/deploy.js'
import { button, look, PAGE_WAIT, steps, useConsole, WINDOWS } from '../../support/console/swap-page.js'
import { emitFromWallet, REFUSED, type WalletAnswer } from '../../support/console/wallet.js'
import { deferred } from '../../support/deferred.js'
import { eventually } from '../../support/eventually.js'
import { CHROMIUM } from '../../support/packages/chromium.js'

interface Transaction {
  readonly from: Address
  readonly to: Address
  readonly data: Hex
}

/** An account of the local chain that has no tokens. */
const POOR = devAccounts[8]?.address as Address

/** A page whose wallet notes each transaction that it is asked for. @param act decides before the node gets it */
async function openNoting(
  stage: ReturnType<typeof useConsole>,
  act: (transaction: Transaction, count: number) => ReturnType<WalletAnswer>,
) {
  const sent: Transaction[] = []
  const answer: WalletAnswer = (method, params) => {
    if (method !== 'eth_sendTransaction') return undefined
    const transaction = params[0] as Transaction
    sent.push(transaction)
    return act(transaction, sent.length)
  }
  return { ...(await stage.openPage({ account: stage.network.user.address, answer })), sent }
}

describe.skipIf(!existsSync(CHROMIUM))(
  `swaps in the console with a wallet that changes (needs ${CHROMIUM})`,
  { timeout: 90_000 },
  () => {
    const stage = useConsole({ ...WINDOWS, DEFAULT_DEPOSIT_WINDOW: '40' })
    const account = () => stage.network.user.address

    /** Leaves the contract no allowance, so that the next swap requests an approval first. */
    const withoutAllowance = () =>
      send(stage.user(), stage.network.contracts.weth, 'approve', [stage.network.contracts.settlement, 0n])

    it('sends no deposit on the chain that the wallet has changed to after the approval, and goes on when it is back', async () => {
      await withoutAllowance()
      let chainId = 31337
      const sent: string[] = []
      const shown = await stage.openPage({
        account: account(),
        answer: async (method, params) => {
          if (method === 'eth_chainId') return { result: numberToHex(chainId) }
          if (method !== 'eth_sendTransaction') return undefined
          sent.push((params[0] as Transaction).to.toLowerCase())
          if (sent.length > 1) return undefined
          chainId = 1
          await emitFromWallet(shown.page, 'chainChanged', '0x1')
          return undefined
        },
      })
      await stage.swap(shown)
      await shown.page.getByText('The wallet is on another network.').waitFor(PAGE_WAIT)
      await look(shown.page, 'other-network')
      expect(sent).toEqual([stage.network.contracts.weth.toLowerCase()])
      chainId = 31337
      await emitFromWallet(shown.page, 'chainChanged', '0x7a69')
      await shown.page.getByText('You received').waitFor(PAGE_WAIT)
    })

    it('sends no deposit from the account that the wallet has changed to after the approval', async () => {
      await withoutAllowance()
      const { sent, ...shown } = await openNoting(stage, async () => {
        await emitFromWallet(shown.page, 'accountsChanged', [POOR])
        return undefined
      })
      await stage.swap(shown)
      await shown.page.getByRole('alert').getByText('has changed to the account').waitFor(PAGE_WAIT)
      expect(sent.map(({ to }) => to.toLowerCase())).toEqual([stage.network.contracts.weth.toLowerCase()])
    })

    it('sends no deposit for an offer that has expired while the wallet asked for the approval', async () => {
      await withoutAllowance()
      const { sent, ...shown } = await openNoting(stage, async () => {
        await shown.page.clock.setSystemTime(Date.now() + 300_000)
        return undefined
      })
      await stage.swap(shown)
      await shown.page.getByRole('alert').getByText('The offer has expired').waitFor(PAGE_WAIT)
      expect(sent.map(({ to }) => to.toLowerCase())).toEqual([stage.network.contracts.weth.toLowerCase()])
    })

    it('hears nothing more of a wallet that the user has disconnected', async () => {
      const { page, open } = await stage.openPage({ account: account() })
      await open(stage.swapLink())
      await button(page, 'Connect wallet').click(PAGE_WAIT)
      await button(page, 'Disconnect').click(PAGE_WAIT)
      await button(page, 'Connect wallet').click(PAGE_WAIT)
      await button(page, 'Disconnect').waitFor(PAGE_WAIT)
      expect(await page.evaluate(`countWalletListeners('accountsChanged')`)).toBe(1)
    })

    it('requests nothing of a wallet that has not enough of the token', async () => {
      const asked: string[] = []
      const { page, open } = await stage.openPage({
        account: POOR,
        answer: (method) => {
          asked.push(method)
          return undefined
        },
      })
      await open(stage.swapLink())
      await button(page, 'Connect wallet').click(PAGE_WAIT)
      await button(page, 'Not enough WETH').waitFor(PAGE_WAIT)
      expect(await button(page, 'Not enough WETH').isDisabled()).toBe(true)
      expect(asked).not.toContain('eth_sendTransaction')
    })

    it('stops a swap that the user has left while the wallet asked for the approval', async () => {
      await withoutAllowance()
      const approval = deferred()
      const { sent, ...shown } = await openNoting(stage, async () => {
        await approval.opened
        return undefined
      })
      await stage.swap(shown)
      await eventually(
        async () => sent.length,
        (count) => count === 1,
      )
      await steps(shown.page).getByText('Approve in your wallet').waitFor(PAGE_WAIT)
      await button(shown.page, 'Back to the quotes').click()
      approval.open()
      const allowance = {
        to: stage.network.contracts.weth,
        data: encodeFunctionData({
          abi: erc20Abi,
          functionName: 'allowance',
          args: [account(), stage.network.contracts.settlement],
        }),
      }
      await eventually(
        async () => (await stage.user().call(allowance)).data,
        (data) => BigInt(data ?? '0x0') > 0n,
      )
      await button(shown.page, 'Swap').waitFor(PAGE_WAIT)
      await button(shown.page, 'Swap').click(PAGE_WAIT)
      await shown.page.getByText('You received').waitFor(PAGE_WAIT)
      // The approval and the deposit of the second swap: none of the first one.
      expect(sent).toHaveLength(2)
    })

    it('asks a wallet on another chain to change it, and says so when the user refuses', async () => {
      let chainId = 1
      const { page, open } = await stage.openPage({
        account: account(),
        answer: (method) => {
          if (method === 'eth_chainId') return { result: numberToHex(chainId) }
          if (method !== 'wallet_switchEthereumChain') return undefined
          if (chainId === 31337) return { result: null }
          chainId = 31337
          return REFUSED
        },
      })
      await open(stage.swapLink())
      await button(page, 'Connect wallet').click(PAGE_WAIT)
      const change = button(page, /^Switch the wallet to /)
      await change.click(PAGE_WAIT)
      await page.getByRole('alert').getByText('You refused the request in the wallet.').waitFor(PAGE_WAIT)
      await change.click()
      await button(page, 'Swap').waitFor(PAGE_WAIT)
    })
  },
)

// Kit solvers have few unused quotes at a time, so that quotes which last long are for few tests.
describe.skipIf(!existsSync(CHROMIUM))(
  `swaps in the console that take minutes (needs ${CHROMIUM})`,
  { timeout: 90_000 },
  () => {
    const stage = useConsole()

    // It is said after a minute in which the node does not know the transaction.
    it('says that a deposit was cancelled in the wallet, and waits for no solver', {
      timeout: 180_000,
    }, async () => {
      const node = stage.node()
      const account = stage.network.user.address
      const isSent = deferred()
      let deposit: Hex = '0x'
      let release = async () => {}
      const { sent, ...shown } = await openNoting(stage, async (transaction) => {
        if (transaction.to.toLowerCase() !== stage.network.contracts.settlement.toLowerCase())
          return undefined
        release = await stage.holdBlocks()
        deposit = await node.request({ method: 'eth_sendTransaction', params: [transaction] } as never)
        isSent.open()
        return { result: deposit }
      })
      await stage.swap(shown)
      await isSent.opened
      await steps(shown.page).getByText('Waiting until the deposit is mined').waitFor(PAGE_WAIT)
      await look(shown.page, 'deposit-sent')
      const { nonce } = await stage.user().getTransaction({ hash: deposit })
      // The wallet's own cancellation: nothing to itself, with the same nonce at a higher fee.
      const cancellation = { from: account, to: account, nonce: numberToHex(nonce), gas: '0x5208' }
      const fees = { maxFeePerGas: '0x174876e800', maxPriorityFeePerGas: '0xba43b7400' }
      await node.request({
        method: 'eth_sendTransaction',
        params: [{ ...cancellation, ...fees }],
      } as never)
      await release()
      await shown.page.getByRole('alert').getByText('was cancelled or replaced').waitFor({ timeout: 90_000 })
      expect(await steps(shown.page).getByText('Waiting for the solver').count()).toBe(0)
      await button(shown.page, 'Back to the quotes').click()
      await button(shown.page, 'Swap').waitFor(PAGE_WAIT)
      expect(await shown.page.getByText('Your swaps in this browser').count()).toBe(0)
    })

    it('pays a deposit address once, however often the button is pressed', async () => {
      const paid = deferred()
      const { sent, page, open } = await openNoting(stage, async () => {
        await paid.opened
        return undefined
      })
      await open(stage.swapLink({ mode: 'address' }))
      await page.getByText('Connect a wallet to have').click(PAGE_WAIT)
      await button(page, 'Connect wallet').click()
      await button(page, 'Get the deposit address').click(PAGE_WAIT)
      await button(page, 'Send from the wallet').click(PAGE_WAIT)
      const waiting = button(page, 'Waiting for the wallet…')
      await eventually(
        async () => sent.length,
        (count) => count === 1,
      )
      expect(await waiting.isDisabled()).toBe(true)
      await waiting.dispatchEvent('click')
      paid.open()
      await page.getByText('You received').waitFor(PAGE_WAIT)
      expect(sent).toHaveLength(1)
    })
  },
)
