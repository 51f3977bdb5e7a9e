import type { ComponentChildren } from 'preact'
import { useState } from 'preact/hooks'
import type { Chain } from '../../../../../gen/aggregator/v1/chain_pb.js'
import { Copy } from '../../components/copy.js'
import { FromTemplate } from '../../components/notice.js'
import { SolverRecord } from '../../components/paid.js'
import { QrCode } from '../../components/qr-code.js'
import { Deadline } from '../../components/time.js'
import { TokenName } from '../../components/token-amount.js'
import type { Offer } from '../../data/auction/auction.js'
import { isDead } from '../../data/auction/offer-check.js'
import { latestNow } from '../../data/clock.js'
import { type AddressUse, addressUse, SPARE_SECONDS } from '../../data/orders/address-use.js'
import type { OwnSwap } from '../../data/orders/own-swaps.js'
import { useQuery } from '../../data/query.js'
import { tokenOf } from '../../data/tokens/tokens.js'
import { exactAmount } from '../../format/amount.js'
import { useWalletRead } from '../../wallet/use-wallet-read.js'
import { AddressRisks } from './address-risks.js'
import { Connect } from './connect.js'
import { WhatHappens } from './what-happens.js'

const CHECK_MS = 30_000

type ClosedUse = Exclude<AddressUse, 'pay' | 'pay the rest'>

/** What stands in the place of an address that must not be paid. */
const CLOSED: Readonly<Record<ClosedUse, readonly [tone: 'bad' | 'warning', text: string]>> = {
  paid: ['warning', 'The tokens are at the deposit address. Do not send them again.'],
  asked: ['warning', 'Your wallet was asked to send the tokens. Do not send them twice.'],
  'asked too late': [
    'bad',
    'Do not confirm in your wallet any more. Late tokens may stay at the address until you fetch them.',
  ],
  'other mode': ['bad', 'The solver did not make this offer for a transfer. Send nothing for it.'],
  'check failed': ['bad', 'The check of this offer has failed. Send nothing for it.'],
  'check open': [
    'warning',
    'The address is shown once the check through your wallet has passed. Send nothing before.',
  ],
  dead: [
    'bad',
    'The contract has the order already, or takes this offer no more. Send nothing to this address.',
  ],
  'too late': ['warning', 'It is too late for a transfer. Send nothing to this address any more.'],
}

interface DepositAddressProps {
  readonly chain: Chain
  readonly offer: Offer
  /** What this browser knows of the swap. */
  readonly swap: OwnSwap | undefined
  /** What the user can do with the address. */
  readonly children?: (use: AddressUse) => ComponentChildren
}

/** The deposit address of an offer with its QR code, and what to send there until when. */
export function DepositAddress({ chain, offer, swap, children }: DepositAddressProps) {
  const { quote, depositAddress } = offer
  const { chainId } = chain
  const [isSaved, setSaved] = useState(false)
  const { held, isUsed } =
    useWalletRead(chain, `at ${depositAddress}`, ({ readAddress }) => readAddress(chain, offer)) ?? {}
  // Asked again when the tab comes back to the front.
  const dead = useQuery(`dead ${offer.orderId}`, (signal) => isDead(chainId, offer, signal), {
    refreshMs: CHECK_MS,
  })
  if (quote === undefined) return null
  const token = tokenOf(chainId, quote.inputToken)
  const rest = BigInt(quote.inputAmount) - (held ?? 0n)
  // What is cut off for reading is too little for the contract.
  const exact = exactAmount(rest, token?.decimals)
  const use = addressUse(quote, swap, {
    held,
    isDead: isUsed === true || dead.data === true,
    nowMs: latestNow.value,
  })
  const terms = (
    <WhatHappens chain={chain} swap={quote} isTransfer>
      <dt>Receiver</dt>
      <dd>
        <code>{quote.user}</code>, of output and refunds
      </dd>
      <dt>Solver</dt>
      <dd>
        <SolverRecord {...{ chainId }} solver={quote.solver} />
      </dd>
      <dt>Token</dt>
      <dd>
        <small>
          Contract <code>{quote.inputToken}</code>: send nothing to it
        </small>
      </dd>
    </WhatHappens>
  )
  if (use !== 'pay' && use !== 'pay the rest')
    return (
      <Closed use={use} depositDeadline={quote.depositDeadline}>
        {children?.(use)}
        {terms}
      </Closed>
    )
  return (
    <section class="deposit-address" aria-label="Deposit address">
      {swap?.check === undefined && (
        <div class="notice notice-warning">
          <FromTemplate id="unchecked" />
          {children !== undefined && <Connect>Connect a wallet to check</Connect>}
        </div>
      )}
      <AddressRisks {...{ chain, swap: quote }} />
      <ol class="send">
        <li>
          <SaveQuote swap={swap} onSave={() => setSaved(true)} />
          <span>Elsewhere, a refund needs this file. {isSaved || 'Then the address appears.'}</span>
        </li>
        <li>
          <span>{use === 'pay' ? 'Send exactly' : 'A part has arrived. Send exactly the rest'}</span>
          <span class="whole-address send-amount">
            <span class="number">{exact}</span>
            <TokenName chainId={chainId} address={quote.inputToken} />
            <Copy text={exact} label="amount" />
          </span>
          <span>
            once, on {chain.name}, to arrive by{' '}
            <strong>
              <Deadline seconds={quote.depositDeadline - SPARE_SECONDS} />
            </strong>
          </span>
          {isSaved && (
            <>
              <code>
                {depositAddress.match(/^0x|.{4}/g)?.map((part, index) => (
                  <span key={index}>{part}</span>
                ))}
              </code>
              <Copy text={depositAddress} label="deposit address" isLarge />
              <figure>
                <QrCode text={depositAddress} label="QR code of the deposit address" />
                <figcaption>The address alone: choose token and amount yourself</figcaption>
              </figure>
            </>
          )}
        </li>
        <li>{terms}</li>
      </ol>
      {children?.(use)}
    </section>
  )
}

/** A file with the signed quote, which a refund needs also where this browser has forgotten it. */
export const SaveQuote = ({ swap, onSave }: Pick<DepositAddressProps, 'swap'> & { onSave?: () => void }) => (
  <a
    class="second-action"
    onClick={onSave}
    download="signed-quote.json"
    href={`data:application/json,${encodeURIComponent(JSON.stringify(swap?.signedQuote))}`}
  >
    Save the signed quote
  </a>
)

interface ClosedProps {
  readonly use: ClosedUse
  /** Unix time in seconds. */
  readonly depositDeadline: number
  readonly children: ComponentChildren
}

/** Why there is no address to pay, and what somebody can do who has paid it. */
function Closed({ use, depositDeadline, children }: ClosedProps) {
  const [tone, text] = CLOSED[use]
  return (
    <section class={`notice notice-${tone}`} aria-label="Deposit address">
      <p>{text}</p>
      {use === 'asked' && (
        <p>
          While it still asks, confirm by{' '}
          <strong>
            <Deadline seconds={depositDeadline - SPARE_SECONDS} />
          </strong>
          , and not later.
        </p>
      )}
      <p>If you have sent the tokens, look for a refund on the order's page after the fill deadline.</p>
      {children}
    </section>
  )
}
