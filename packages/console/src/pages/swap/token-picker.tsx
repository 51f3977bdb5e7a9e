import type { RefObject } from 'preact'
import { useState } from 'preact/hooks'
import { type KnownToken, learnToken, tokensOf } from '../../data/tokens.js'
import { shorten } from '../../format/shorten.js'
import { ADDRESS, isMistyped } from './swap-params.js'

interface TokenPickerProps {
  readonly dialog: RefObject<HTMLDialogElement | null>
  readonly chainId: bigint
  readonly onToken: (address: string) => void
}

const SOURCES: Readonly<Record<KnownToken['source'], string>> = {
  wallet: 'read from its contract',
  instance: 'as the instance says',
  link: 'not checked',
}

/** Chooses a token among those met before, or by its address. */
export function TokenPicker({ dialog, chainId, onToken }: TokenPickerProps) {
  const [text, setText] = useState('')
  const [decimals, setDecimals] = useState('')
  const address = text.trim()
  const isAddress = ADDRESS.test(address) && !isMistyped(address)
  const listed = tokensOf(chainId).filter((token) => isAddress || matches(token, address))
  const choose = (chosen: string) => {
    onToken(chosen)
    setText('')
    setDecimals('')
    dialog.current?.close()
  }
  const submit = (event: Event) => {
    event.preventDefault()
    if (!isAddress) return
    const claimed = /^\d{1,3}$/.test(decimals) && Number(decimals) <= 255 ? Number(decimals) : undefined
    learnToken(chainId, { address, decimals: claimed, source: 'link' })
    choose(address)
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
          placeholder="Address 0x… or symbol"
          aria-label="Address of the token, or a part of its symbol"
          autocomplete="off"
          spellcheck={false}
          onInput={({ currentTarget }) => setText(currentTarget.value)}
        />
        {isAddress && (
          <div class="picker-new">
            <label>
              Decimals{' '}
              <input
                class="decimals-input"
                inputMode="numeric"
                value={decimals}
                placeholder="?"
                onInput={({ currentTarget }) => setDecimals(currentTarget.value)}
              />
            </label>
            <button type="submit">Use this token</button>
            <p class="muted">A connected wallet reads the decimals from the contract.</p>
          </div>
        )}
        <ul class="picker-list">
          {listed.map((token) => (
            <li key={token.address}>
              <button type="button" onClick={() => choose(token.address)}>
                {token.symbol === undefined ? (
                  <span class="muted">no symbol</span>
                ) : (
                  <bdi class="token-symbol">{token.symbol}</bdi>
                )}
                <code title={token.address}>{shorten(token.address)}</code>
                <span class="muted">{SOURCES[token.source]}</span>
              </button>
            </li>
          ))}
        </ul>
        {listed.length === 0 && !isAddress && (
          <p class="muted">
            {isMistyped(address)
              ? 'The address has a typing error: its checksum is wrong.'
              : 'No token seen before matches. Paste an address.'}
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
