import { isUserAddress, type SwapParams, writeSwapParams } from './swap-params.js'

const OWN = 'Your address: it gets the output, or a refund'

/** The address of a user without a connected wallet. That of a link is only offered. */
export function UserField({ params }: { readonly params: SwapParams }) {
  const { user, suggestedUser } = params
  const take = (address: string) => writeSwapParams({ ...params, user: address, suggestedUser: '' })
  return (
    <div class="user-field">
      <p>{OWN}</p>
      <input
        class="wide-input"
        aria-label={OWN}
        aria-invalid={user !== '' && !isUserAddress(user)}
        placeholder="0x…"
        value={user}
        autocomplete="off"
        spellcheck={false}
        onInput={({ currentTarget }) => take(currentTarget.value.trim())}
      />
      <p class="warning">Give no exchange's address: a refund would go there, and you may not get it.</p>
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
    </div>
  )
}
