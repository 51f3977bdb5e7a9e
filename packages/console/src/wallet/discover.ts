import type { EIP1193Provider } from 'viem'

/** A wallet of this browser, as it announces itself (EIP-6963). */
export interface WalletOption {
  readonly info: {
    readonly uuid: string
    readonly name: string
    /** Its reverse domain name, the same in each visit. */
    readonly rdns: string
    /** A `data:` URL; empty when it has none. */
    readonly icon: string
  }
  readonly provider: EIP1193Provider
}

/** Wallets announce themselves at once; a slow extension gets this time. */
const ANNOUNCE_MS = 150

/** Finds the wallets of this browser: all that announce themselves, or else the one that is injected as `ethereum`. */
export async function discoverWallets(): Promise<WalletOption[]> {
  const found = new Map<string, WalletOption>()
  const take = (event: Event) => {
    const { detail } = event as Event & { readonly detail?: WalletOption }
    if (detail !== undefined) found.set(detail.info.uuid, detail)
  }
  addEventListener('eip6963:announceProvider', take)
  dispatchEvent(new Event('eip6963:requestProvider'))
  await new Promise((resolve) => setTimeout(resolve, ANNOUNCE_MS))
  removeEventListener('eip6963:announceProvider', take)
  const { ethereum } = globalThis as { ethereum?: EIP1193Provider }
  if (found.size === 0 && ethereum !== undefined)
    found.set('', {
      info: { uuid: '', name: 'Browser wallet', rdns: 'injected', icon: '' },
      provider: ethereum,
    })
  return [...found.values()]
}
