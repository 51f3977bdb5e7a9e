import type { EIP1193Provider } from 'viem'

/** A wallet of this browser. */
export interface WalletOption {
  readonly id: string
  readonly name: string
  /** Its reverse domain name, the same in each visit. */
  readonly rdns: string
  /** A `data:` URL; empty when it has none. */
  readonly icon: string
  readonly provider: EIP1193Provider
}

/** What a wallet announces (EIP-6963). */
interface Announcement extends Event {
  readonly detail?: {
    readonly info: {
      readonly uuid: string
      readonly name: string
      readonly rdns: string
      readonly icon: string
    }
    readonly provider: EIP1193Provider
  }
}

/** Wallets announce themselves at once; a slow extension gets this time. */
const ANNOUNCE_MS = 150

/** Finds the wallets of this browser: all that announce themselves, or else the one that is injected as `ethereum`. */
export async function discoverWallets(): Promise<WalletOption[]> {
  const found = new Map<string, WalletOption>()
  const take = ({ detail }: Announcement) => {
    if (detail === undefined) return
    const { uuid, name, rdns, icon } = detail.info
    const shownIcon = icon.startsWith('data:image/') ? icon : ''
    found.set(uuid, { id: uuid, name, rdns, icon: shownIcon, provider: detail.provider })
  }
  addEventListener('eip6963:announceProvider', take as EventListener)
  dispatchEvent(new Event('eip6963:requestProvider'))
  await new Promise((resolve) => setTimeout(resolve, ANNOUNCE_MS))
  removeEventListener('eip6963:announceProvider', take as EventListener)
  const { ethereum } = globalThis as { ethereum?: EIP1193Provider }
  if (found.size === 0 && ethereum !== undefined)
    return [{ id: 'injected', name: 'Browser wallet', rdns: 'injected', icon: '', provider: ethereum }]
  return [...found.values()]
}
