import type { RefObject } from 'preact'
import { useState } from 'preact/hooks'
import { TokenLogo } from '../../components/token-amount.js'
import { type KnownToken, markOf } from '../../data/tokens/known-token.js'
import { tokensOf } from '../../data/tokens/tokens.js'
import { shorten } from '../../format/shorten.js'
import { ADDRESS, isMistyped } from './swap-params.js'

interface TokenPickerProps {
  readonly dialog: RefObject<HTMLDialogElement | null>
  readonly chainId: bigint
  readonly onToken: (address: string) => void
}

/** More of them nobody reads: the search finds them. */
const SHOWN = 50

/** Chooses a token of the operator's list, another one that is traded here, or any by its address. */
export function TokenPicker({ dialog, chainId, onToken }: TokenPickerProps) {
  const [text, setText] = useState('')
  const wanted = text.trim()
  const isAddress = ADDRESS.test(wanted) && !isMistyped(wanted)
  const found = tokensOf(chainId).filter((token) => matches(token, wanted))
  const choose = (chosen: string) => {
    onToken(chosen)
    setText('')
    dialog.current?.close()
  }
  const submit = (event: Event) => {
    event.preventDefault()
    const first = isAddress ? wanted : found[0]?.address
    if (first !== undefined && wanted !== '') choose(first)
  }
  return (
    <dialog class="dialog" ref={dialog} aria-label="Choose a token">
      <form onSubmit={submit}>
        <div class="panel-head">
          <h2>Choose a token</h2>
          <button type="button" class="plain" aria-label="Close" onClick={() => dialog.current?.close()}>
            ✕
          </button>
        </div>
        <input
          class="wide-input"
          value={text}
          placeholder="Symbol, or address 0x…"
          aria-label="Symbol of the token or a part of it, or its address"
          autocomplete="off"
          spellcheck={false}
          onInput={({ currentTarget }) => setText(currentTarget.value)}
        />
        {isAddress && found.length === 0 && (
          <div class="picker-new">
            <button type="submit">Use this token</button>
            <p class="muted">A connected wallet reads its name and its decimals from the contract.</p>
          </div>
        )}
        <ul class="picker-list">
          {found.slice(0, SHOWN).map((token) => (
            <li key={token.address}>
              <button type="button" onClick={() => choose(token.address)}>
                <TokenLogo chainId={chainId} address={token.address} />
                {token.symbol === undefined ? (
                  <span class="muted">no symbol</span>
                ) : (
                  <bdi class="token-symbol">{token.symbol}</bdi>
                )}
                {markOf(token) !== undefined && <span class="token-mark">{markOf(token)}</span>}
                <code title={token.address}>{shorten(token.address)}</code>
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
      </form>
    </dialog>
  )
}

function matches({ symbol = '', address }: KnownToken, text: string): boolean {
  const wanted = text.toLowerCase()
  return symbol.toLowerCase().includes(wanted) || address.toLowerCase().includes(wanted)
}
