import { rememberedWallet } from './remembered.js'

/** Loads what talks to wallets and contracts, which is larger than all the rest. */
export const loadWallet = () => import('./wallet.js')
export type WalletCode = Awaited<ReturnType<typeof loadWallet>>

/** Connects the wallet of the last visit, without a question to the user. Without one, nothing is loaded. */
export function reconnectLastWallet(): void {
  if (rememberedWallet() === undefined) return
  loadWallet()
    .then(({ reconnectWallet }) => reconnectWallet())
    .catch(() => {})
}

/** Describes what went wrong with a wallet, also when the code for wallets cannot be loaded. */
export async function describeFailure(error: unknown): Promise<string> {
  const code = await loadWallet().catch(() => undefined)
  return (
    code?.describeWalletError(error) ??
    'The console could not load its code for wallets. Check the connection, then try again.'
  )
}
