import type { Page } from 'playwright-core'
import type { Address } from 'viem'

/** The account of a wallet, which the node at the URL signs for. */
export interface WalletOptions {
  readonly rpcUrl: string
  readonly account: Address
  /** What the wallet answers in place of the node, as its user decides; undefined leaves a request to the node. */
  readonly answer?: WalletAnswer | undefined
}

/** Decides the answer to a request of the page. It may take its time, as a user does. */
export type WalletAnswer = (
  method: string,
  params: readonly unknown[],
) => Promise<RpcAnswer | undefined> | RpcAnswer | undefined

interface RpcAnswer {
  readonly result?: unknown
  readonly error?: { readonly code: number; readonly message: string }
}

/** The answer of a wallet whose user refuses (EIP-1193). */
export const REFUSED: RpcAnswer = { error: { code: 4001, message: 'User rejected the request.' } }

/** What a wallet's extension runs in the page: it announces itself (EIP-6963), and asks the test for everything else. */
const EXTENSION = `{
  const provider = {
    async request({ method, params = [] }) {
      const { result, error } = await globalThis.askWallet(method, params)
      if (error) throw error
      return result
    },
    on() {},
    removeListener() {},
  }
  const info = { uuid: crypto.randomUUID(), name: 'Test wallet', rdns: 'example.test', icon: 'data:image/svg+xml,<svg/>' }
  const announce = () => dispatchEvent(new CustomEvent('eip6963:announceProvider', { detail: Object.freeze({ info, provider }) }))
  addEventListener('eip6963:requestProvider', announce)
  announce()
}`

/**
 * Gives a page a browser wallet with an account that the local chain signs for. The wallet asks the node from outside of the page,
 * as an extension does, so that the page's policy does not concern it.
 */
export async function bringWallet(page: Page, { rpcUrl, account, answer }: WalletOptions): Promise<void> {
  await page.exposeFunction('askWallet', async (method: string, params: unknown[]): Promise<RpcAnswer> => {
    const chosen = await answer?.(method, params)
    if (chosen !== undefined) return chosen
    if (method === 'eth_accounts' || method === 'eth_requestAccounts') return { result: [account] }
    const response = await fetch(rpcUrl, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ jsonrpc: '2.0', id: 1, method, params }),
    })
    return (await response.json()) as RpcAnswer
  })
  await page.addInitScript(EXTENSION)
}
