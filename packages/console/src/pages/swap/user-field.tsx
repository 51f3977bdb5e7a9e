import { isUserAddress, type SwapParams, writeSwapParams } from './swap-params.js'

const OWN = 'Your address: it gets the output, or a refund'

/** The address of a user without a connected wallet. That of a link is only offered. */
export function UserField({ params }: { readonly params: SwapParams }) {
  const { user, suggestedUser } = params
  const take = (address: string) => writeSwapParams({ ...params, user: address, suggestedUser: '' })
  const field = (name: string) => (
    <>
      <input
        class="wide-input"
        aria-label={name}
        aria-invalid={user !== '' && !isUserAddress(user)}
        placeholder="0x…"
        value={user}
        autocomplete="off"
        spellcheck={false}
        onInput={({ currentTarget }) => take(currentTarget.value.trim())}
      />
      {suggestedUser !== '' && (
        <p class="suggested-user">
          <span>
            This link sends the output to <code class="whole-address">{suggestedUser}</code>
          </span>
          <button type="button" onClick={() => take(suggestedUser)}>
            Use this address
          </button>
        </p>
      )}
    </>
  )
  if (params.mode === 'address')
    return (
      <div class="user-field">
        <p class="muted">{OWN}</p>
        {field(OWN)}
      </div>
    )
  return (
    <details class="aside" open={user !== '' || suggestedUser !== ''}>
      <summary>Or watch the auction for an address</summary>
      {field('Watch the auction for an address')}
    </details>
  )
}
