import type { ComponentChildren } from 'preact'
import type { Chain } from '../../../../../gen/aggregator/v1/chain_pb.js'
import { modeOfNonce } from '../../../../protocol/src/quotes/nonce-mode.js'
import { Copy } from '../../components/copy.js'
import { Account } from '../../components/id.js'
import { QrCode } from '../../components/qr-code.js'
import { Amount } from '../../components/token-amount.js'
import type { Offer } from '../../data/auction/auction.js'
import { now } from '../../data/clock.js'
import { tokenOf } from '../../data/tokens/tokens.js'
import { exactAmount } from '../../format/amount.js'
import { formatMoment, formatSpan } from '../../format/time.js'

/** What arrives later may be kept by the contract for good (docs/decisions.md, D31). */
const SPARE_SECONDS = 120

interface DepositAddressProps {
  readonly chain: Chain
  readonly offer: Offer
  /** Whether the address was checked against the contract, through the user's wallet. */
  readonly isChecked: boolean
  /** What the user can do with the address. */
  readonly children?: ComponentChildren
}

/** The deposit address of an offer with its QR code, and what to send there until when. */
export function DepositAddress({ chain, offer, isChecked, children }: DepositAddressProps) {
  const { quote, depositAddress } = offer
  if (quote === undefined) return null
  const deadlineMs = (quote.depositDeadline - SPARE_SECONDS) * 1000
  const token = tokenOf(chain.chainId, quote.inputToken)
  if (modeOfNonce(BigInt(quote.nonce)) === 'CONTRACT') return <OtherMode />
  if (deadlineMs < now.value) return <TooLate fillDeadlineMs={quote.fillDeadline * 1000} />
  return (
    <section class="deposit-address" aria-label="Deposit address">
      {!isChecked && (
        <p class="notice notice-warning">
          This address is not checked, because no wallet was connected: you trust this instance for it. Tokens
          sent to a wrong address are lost.
        </p>
      )}
      <div class="deposit-columns">
        <QrCode text={depositAddress} label="QR code of the deposit address" />
        <dl class="facts facts-stacked">
          <dt>Send exactly</dt>
          <dd>
            <Amount chainId={chain.chainId} address={quote.inputToken} amount={quote.inputAmount} />
            <Copy text={exactAmount(BigInt(quote.inputAmount), token?.decimals)} label="amount" />
          </dd>
          {token?.source !== 'wallet' && (
            <>
              <dt>in the smallest unit, as the decimals were not read from the contract</dt>
              <dd class="number whole-address">{quote.inputAmount}</dd>
            </>
          )}
          <dt>of the token</dt>
          <dd class="whole-address">
            <code>{quote.inputToken}</code>
            <Copy text={quote.inputToken} label="token's address" />
          </dd>
          <dt>to the address</dt>
          <dd class="whole-address">
            <code>{depositAddress}</code>
            <Copy text={depositAddress} label="deposit address" />
          </dd>
          <dt>on the network</dt>
          <dd>{chain.name}</dd>
          <dt>within</dt>
          <dd class="number" title={formatMoment(deadlineMs)}>
            {formatSpan(deadlineMs - now.value)}
            <small> for the tokens to arrive: two minutes before the offer ends.</small>
          </dd>
          <dt>the output goes to</dt>
          <dd>
            <Account address={quote.user} />
          </dd>
        </dl>
      </div>
      {children}
    </section>
  )
}

/** The instance has told the solver another mode: the solver may cancel the offer under the user's transfer. */
function OtherMode() {
  return (
    <section class="notice notice-bad" aria-label="Deposit address">
      <p>The solver did not make this offer for a transfer to an address. Send nothing for it.</p>
    </section>
  )
}

/** An address that is too late is not shown: the solver need not fill what reaches it. */
function TooLate({ fillDeadlineMs }: { readonly fillDeadlineMs: number }) {
  return (
    <section class="notice notice-warning" aria-label="Deposit address">
      <p>It is too late for a transfer. Send nothing to this address any more.</p>
      <p>
        {fillDeadlineMs > now.value
          ? 'If you have sent the tokens, the solver can still fill the order.'
          : "If you have sent the tokens, you can refund them on the order's page."}
      </p>
    </section>
  )
}
