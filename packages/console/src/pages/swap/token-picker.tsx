import type { RefObject } from 'preact'
import { useState } from 'preact/hooks'
import type { Chain } from '../../../../../gen/aggregator/v1/chain_pb.js'
import { FromTemplate } from '../../components/notice.js'
import { Amount, TokenLogo } from '../../components/token-amount.js'
import { type KnownToken, markOf } from '../../data/tokens/known-token.js'
import { tokensOf } from '../../data/tokens/tokens.js'
import { shorten } from '../../format/shorten.js'
import { useBalances } from '../../wallet/use-wallet-read.js'
import { ADDRESS, isMistyped } from './swap-params.js'
import { useWorth } from './what-happens.js'

interface TokenPickerProps {
  readonly dialog: RefObject<HTMLDialogElement | null>
  /** The title, which names the side of the swap. */
  readonly label: string
  readonly chain: Chain
  /** The token that is chosen. */
  readonly current: string
  /** A closed dialog lists and reads nothing. */
  readonly isOpen: boolean
  readonly onClose: () => void
  readonly onToken: (address: string) => void
}

/** More of them nobody reads: the search finds them. Each balance is a call of the wallet's node. */
const SHOWN = 20

/** Chooses a token of the operator's list, another one that is traded here, or any by its address. */
export function TokenPicker(props: TokenPickerProps) {
  const { dialog, label, chain, current, isOpen, onClose, onToken } = props
  const { chainId, bondToken } = chain
  const [text, setText] = useState('')
  const wanted = text.trim()
  const isAddress = ADDRESS.test(wanted) && !isMistyped(wanted)
  const found = tokensOf(chainId).filter((token) => matches(token, wanted))
  const shown = found.slice(0, isOpen ? SHOWN : 0)
  const balances = useBalances(
    chain,
    shown.map(({ address }) => address),
  )
  const worthIn = useWorth(chainId)
  const worthOf = (token: KnownToken) => worthIn(token, balances?.get(token.address) ?? 0n)
  const choose = (chosen: string) => {
    onToken(chosen)
    setText('')
    dialog.current?.close()
  }
  const mark = (token: KnownToken) =>
    token.address === bondToken?.address ? 'bond token, no price' : markOf(token)
  const submit = (event: Event) => {
    event.preventDefault()
    const first = isAddress ? wanted : found[0]?.address
    if (first !== undefined && wanted !== '') choose(first)
  }
  return (
    <dialog class="dialog" ref={dialog} aria-label="Choose a token" onClose={onClose}>
      <form onSubmit={submit}>
        <div class="panel-head">
          <h2>{label}</h2>
          <button type="button" class="plain" aria-label="Close" onClick={() => dialog.current?.close()}>
            ✕
          </button>
        </div>
        <input
          class="wide-input"
          value={text}
          placeholder="Name, symbol, or address 0x…"
          aria-label="Name, symbol or address of a token"
          autocomplete="off"
          spellcheck={false}
          onInput={({ currentTarget }) => setText(currentTarget.value)}
        />
        {isAddress && found.length === 0 && (
          <div class="picker-new">
            <button type="submit">Use this token</button>
            <p class="muted">A connected wallet reads what it is.</p>
          </div>
        )}
        <ul class="picker-list">
          {shown
            .toSorted((a, b) => worthOf(b).worth - worthOf(a).worth)
            .map((token) => (
              <li key={token.address}>
                <button
                  type="button"
                  aria-current={token.address === current}
                  onClick={() => choose(token.address)}
                >
                  <TokenLogo chainId={chainId} address={token.address} />
                  <span class="picker-name" title={token.address}>
                    <span>
                      <bdi class="token-symbol">{token.symbol ?? 'no symbol'}</bdi>{' '}
                      {mark(token) && <span class="token-mark">{mark(token)}</span>}
                    </span>
                    <span class="muted">
                      <bdi>{token.name}</bdi> <code>{shorten(token.address)}</code>
                    </span>
                  </span>
                  {balances?.has(token.address) && (
                    <span class="picker-balance">
                      <Amount
                        {...{ chainId }}
                        address={token.address}
                        amount={balances.get(token.address)}
                        bare
                      />
                      <span class="muted">{worthOf(token).words}</span>
                    </span>
                  )}
                </button>
              </li>
            ))}
        </ul>
        {found.length === 0 && !isAddress && (
          <p class="muted">
            {isMistyped(wanted)
              ? 'The address has a typing error: its checksum is wrong.'
              : 'No token here matches. Paste an address.'}
          </p>
        )}
        <FromTemplate id="picker-legend" />
      </form>
    </dialog>
  )
}

function matches({ symbol = '', name = '', address }: KnownToken, text: string): boolean {
  return [symbol, name, address].some((each) => each.toLowerCase().includes(text.toLowerCase()))
}
