import type { ComponentChildren } from 'preact'
import { useId, useRef, useState } from 'preact/hooks'
import { TokenLogo, TokenName } from '../../components/token-amount.js'
import { TokenPicker } from './token-picker.js'

interface TokenFieldProps extends Pick<Parameters<typeof TokenPicker>[0], 'chain'> {
  readonly label: string
  readonly token: string
  /** As typed on the exact side; as found on the other. */
  readonly amount: string
  /** The exact amount, on hover. */
  readonly title: string
  readonly isInvalid: boolean
  readonly onAmount: (text: string) => void
  readonly onToken: (address: string) => void
  /** A line below the amount. */
  readonly children?: ComponentChildren
}

/** One side of the swap: an amount and its token. */
export function TokenField(props: TokenFieldProps) {
  const { chain, label, token, amount, title, isInvalid, onAmount, onToken, children } = props
  const id = useId()
  const picker = useRef<HTMLDialogElement>(null)
  const [isOpen, setOpen] = useState(false)
  const openPicker = () => {
    setOpen(true)
    picker.current?.showModal()
    picker.current?.querySelector('input')?.focus()
  }
  return (
    <div class="token-field">
      <label for={id}>{label}</label>
      <div class="token-field-row">
        <input
          id={id}
          class="amount-input number"
          style={{ '--length': amount.length }}
          inputMode="decimal"
          autocomplete="off"
          spellcheck={false}
          placeholder="0"
          value={amount}
          title={title}
          aria-invalid={isInvalid}
          onInput={({ currentTarget }) => onAmount(currentTarget.value)}
        />
        <button type="button" class="token-button" onClick={openPicker} title={token}>
          {token === '' ? (
            'Choose token'
          ) : (
            <>
              <TokenLogo chainId={chain.chainId} address={token} />
              <TokenName chainId={chain.chainId} address={token} isShort />
            </>
          )}
          <span aria-hidden="true">▾</span>
        </button>
      </div>
      <div class="token-field-note">{children}</div>
      <TokenPicker
        dialog={picker}
        label={`Choose what ${label.toLowerCase().replace(' exactly', '')}`}
        chain={chain}
        current={token}
        isOpen={isOpen}
        onClose={() => setOpen(false)}
        onToken={onToken}
      />
    </div>
  )
}
