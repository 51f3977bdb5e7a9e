import { signal } from '@preact/signals'

/** The wallet that the user has connected. Its code is loaded when it is needed. */
export interface ConnectedWallet {
  readonly address: string
  /** As the wallet calls itself. */
  readonly name: string
  /** The chain that the wallet is on. */
  readonly chainId: number
}

export const wallet = signal<ConnectedWallet | undefined>(undefined)
