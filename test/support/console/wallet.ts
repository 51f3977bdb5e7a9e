import type { Page } from 'playwright-core'
import type { Address } from 'viem'

/** The account of a wallet, which the node at the URL signs for. */
export interface WalletOptions {
  readonly rpcUrl: string
  readonly account: Address
}

interface RpcAnswer {
  readonly result?: unknown
  readonly error?: { readonly code: number; readonly message: string }
}

/** What a wallet's extension runs in the page: it announces itself (EIP-6963), and asks the test for everything else. */
const EXTENSION = (account: Address) => `{
  const own = { eth_accounts: [${JSON.stringify(account)}], eth_requestAccounts: [${JSON.stringify(account)}] }
  const provider = {
    async request({ method, params = [] }) {
      if (method in own) return own[method]
      const { result, error } = await globalThis.askNode(method, params)
      if (error) throw error
      return result
    },
    on() {},
    removeListener() {},
  }
  const info = { uuid: 'c3b9a1d2-0000-4000-8000-000000000001', name: 'Test wallet', rdns: 'example.test', icon: 'data:image/svg+xml,<svg/>' }
  const announce = () => dispatchEvent(new CustomEvent('eip6963:announceProvider', { detail: Object.freeze({ info, provider }) }))
  addEventListener('eip6963:requestProvider', announce)
  announce()
}`

/**
 * Gives a page a browser wallet with an account that the local chain signs for. The wallet asks the node from outside of the page,
 * as an extension does, so that the page's policy does not concern it.
 */
export async function bringWallet(page: Page, { rpcUrl, account }: WalletOptions): Promise<void> {
  await page.exposeFunction('askNode', async (method: string, params: unknown[]): Promise<RpcAnswer> => {
    const response = await fetch(rpcUrl, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ jsonrpc: '2.0', id: 1, method, params }),
    })
    return (await response.json()) as RpcAnswer
  })
  await page.addInitScript(EXTENSION(account))
}
