import { useState } from 'preact/hooks'
import { shorten } from '../../format/shorten.js'
import { wallet } from '../../wallet/connected-wallet.js'
import type { WalletOption } from '../../wallet/discover.js'
import { loadWallet } from '../../wallet/load.js'
import { useAttempt } from '../../wallet/use-attempt.js'

/** Connects a wallet of this browser. With several, a list to choose from. */
export function Connect({ children = 'Connect wallet' }: { readonly children?: string }) {
  const [options, setOptions] = useState<readonly WalletOption[]>()
  const { isBusy, complaint, attempt } = useAttempt()
  const connect = (option: WalletOption) => attempt(({ connectWallet }) => connectWallet(option))
  const discover = () =>
    attempt(async ({ discoverWallets, connectWallet }) => {
      const found = await discoverWallets()
      setOptions(found)
      const [only] = found
      if (only !== undefined && found.length === 1) await connectWallet(only)
    })
  return (
    <>
      <button type="button" class="main-action" disabled={isBusy} onClick={discover}>
        {isBusy ? 'Waiting for the wallet…' : children}
      </button>
      {options !== undefined && options.length > 1 && (
        <ul class="wallets">
          {options.map((option) => (
            <li key={option.info.uuid}>
              <button type="button" disabled={isBusy} onClick={() => connect(option)}>
                {option.info.icon.startsWith('data:image/') && (
                  <img src={option.info.icon} alt="" width={20} height={20} />
                )}
                <bdi>{option.info.name}</bdi>
              </button>
            </li>
          ))}
        </ul>
      )}
      {options?.length === 0 && (
        <p class="muted" role="status">
          No wallet is in this browser. Install one, or swap by transfer to an address.
        </p>
      )}
      {complaint}
    </>
  )
}

/** The connected wallet, with the way to forget it. */
export function ConnectedWallet() {
  const known = wallet.value
  if (known === undefined) return null
  return (
    <div class="connected">
      <span>
        <bdi>{known.name}</bdi> <code title={known.address}>{shorten(known.address)}</code>
      </span>
      <button type="button" class="plain" onClick={async () => (await loadWallet()).disconnectWallet()}>
        Disconnect
      </button>
    </div>
  )
}
