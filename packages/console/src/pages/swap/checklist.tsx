import { Transaction } from '../../components/id.js'
import { StateMark, type Tone } from '../../components/state-mark.js'
import { Amount } from '../../components/token-amount.js'
import { hrefOn } from '../../data/chains.js'
import { latestNow, now } from '../../data/clock.js'
import { type AddressUse, SPARE_SECONDS } from '../../data/orders/address-use.js'
import type { OrderEnd } from '../../data/orders/order-end.js'
import { isDepositBegun, ownSwap } from '../../data/orders/own-swaps.js'
import { formatClock, formatSpan } from '../../format/time.js'
import { wallet } from '../../wallet/connected-wallet.js'
import { Amounts } from '../order/amounts.js'
import { isPast } from '../order/refund.js'
import { SwitchChain } from './action.js'
import { DepositAddress } from './deposit-address.js'
import {
  checkAddress,
  leaveOffer,
  type Step,
  sendFromWallet,
  stateOf,
  type TakenOffer,
} from './taken-offer.js'
import { useOrderEnd } from './use-order-end.js'

const SIGNS = { waiting: '○', active: '◐', sent: '◐', done: '✓', failed: '✕' } as const
/** What a step is called. Only a transaction is sent. */
type Words = Readonly<Record<'waiting' | 'active' | 'done', string> & { sent?: string }>
const WORDS: Readonly<Record<Step['name'], Words>> = {
  check: {
    waiting: 'Check the quote',
    active: 'Checking the quote',
    done: 'Quote checked through your wallet',
  },
  approve: {
    waiting: 'Approve',
    active: 'Approve in your wallet',
    sent: 'Waiting until the approval is mined',
    done: 'Approved this amount',
  },
  deposit: {
    waiting: 'Deposit',
    active: 'Confirm the deposit in your wallet',
    sent: 'Waiting until the deposit is mined',
    done: 'Deposited',
  },
  fill: { waiting: 'Solver pays you', active: 'Waiting for the solver', done: 'The solver has paid' },
}
const ENDS: Readonly<Record<OrderEnd, readonly [words: string, tone: Tone]>> = {
  filled: ['Swap complete', 'good'],
  refunded: ['Refunded: you have the input back, with compensation', 'back'],
  ended: ['Ended without a fill', 'neutral'],
}

/** The swap that the user has begun: a list that fills as it goes. */
export function Checklist({ taken }: { readonly taken: TakenOffer }) {
  const { chain, offer, steps, problem, isDeclined, wanted, isBusy } = taken
  const { chainId } = chain
  const { quote, orderId } = offer
  const end = useOrderEnd(taken)
  const isOver = end !== undefined
  const isAddress = wanted.mode === 'ADDRESS'
  const isLate = (quote?.depositDeadline ?? 0) * 1000 < latestNow.value
  const deposit = stateOf('deposit', taken)
  const isDeposited = deposit === 'done'
  const isRefused = ownSwap(chainId, orderId)?.check === 'failed'
  const isDue = isDeposited && !isOver && isPast(quote?.fillDeadline ?? 0, latestNow.value)
  const isUncertain = isDepositBegun(ownSwap(chainId, orderId)) && !isBusy && !isDeposited && !isOver
  // The offer stands until its deadline: the next attempt checks it again.
  const isStuck = problem !== '' && !isBusy && !isAddress && !isDeposited
  const mayRetry = isStuck && !isUncertain && !isLate && !isOver && !isRefused
  const isAway = isBusy && wallet.value !== undefined && BigInt(wallet.value.chainId) !== chainId
  // While the wallet asks for the deposit, another swap would be a second one.
  const isUnasked = deposit === 'waiting'
  const mayLeave = isOver || (isAddress ? !isBusy : !isDeposited && (!isBusy || isLate || isUnasked))
  const order = (isDeposited || isOver || isAddress || deposit === 'sent') && (
    <a class={isDue ? 'main-action' : 'second-action'} href={hrefOn(chainId, 'order', orderId)}>
      {isDue ? 'Take your tokens back' : 'See the order'}
    </a>
  )
  const [words, tone] = end === undefined ? ([wordsOfLast(taken), 'waiting'] as const) : ENDS[end]
  return (
    <div class="checklist">
      {/* The list of steps has clocks: screen readers speak of the last step alone. */}
      <p class={isTransferOpen(taken) && !isOver ? 'visually-hidden' : 'hero-state'} role="status">
        {words !== '' && <StateMark word={words} tone={tone} />}
      </p>
      {quote !== undefined && (isDeposited || !isAddress) && (
        <Amounts chainId={chainId} swap={quote} end={end} />
      )}
      {isTransferOpen(taken) && !isOver && <AddressOfTaken taken={taken} />}
      {(wallet.value !== undefined || !isTransferOpen(taken)) && (
        <ol class="steps" aria-label="Steps of the swap">
          {steps.map((step) => (
            <StepLine key={step.name} step={step} taken={taken} end={end} />
          ))}
        </ol>
      )}
      {!isAddress && !isDeposited && problem === '' && isLate && (
        <p class="warning">The offer has expired. A deposit now reverts and changes nothing.</p>
      )}
      {end === 'ended' && (
        <p class="notice notice-warning">The order has ended. Look for your tokens on its page.</p>
      )}
      {isAway && (
        <div class="notice notice-warning" role="status">
          <p>The wallet is on another network. The swap waits for it.</p>
          <SwitchChain chain={chain} />
        </div>
      )}
      {problem !== '' && (
        <p class={isDeclined ? 'notice' : 'notice notice-bad'} role="alert">
          {problem}
        </p>
      )}
      {(mayRetry || (isUncertain && wallet.value !== undefined)) && (
        <button type="button" class="main-action" onClick={sendFromWallet}>
          {mayRetry ? 'Try again' : 'Look again'}
        </button>
      )}
      {isOver || order}
      {mayLeave && (
        // The second click of a double click on "Swap", which was here, says nothing.
        <button
          type="button"
          class={end === 'filled' ? 'main-action' : isOver || isBusy ? 'second-action' : 'link'}
          onClick={({ detail }) => detail < 2 && leaveOffer()}
        >
          {isOver ? 'New swap' : isBusy ? 'Cancel before the deposit' : 'Back to the quotes'}
          {isAddress && deposit === 'active' && ': the address is good until its deadline, or a cancel'}
        </button>
      )}
      {isOver && order}
    </div>
  )
}

/** Whether the page shows a deposit address, with its terms. */
export const isTransferOpen = (taken: TakenOffer) =>
  taken.wanted.mode === 'ADDRESS' && stateOf('deposit', taken) !== 'done'

/** What a step is called in its state. */
function wordsOf({ name, state }: Step, { chain, offer, wanted, isBusy }: TakenOffer): string {
  const isAddress = wanted.mode === 'ADDRESS'
  const isBegun = isDepositBegun(ownSwap(chain.chainId, offer.orderId))
  if (name === 'deposit' && state === 'active' && !isBusy)
    return isBegun ? 'Deposit not seen: look into your wallet' : 'Waiting for the deposit'
  const isLate = isPast((offer.quote?.depositDeadline ?? 0) - SPARE_SECONDS, latestNow.value)
  if (name === 'deposit' && state === 'active' && isAddress && isLate)
    return 'Do not confirm in your wallet any more'
  return WORDS[name][state === 'failed' ? 'waiting' : state] ?? ''
}

function wordsOfLast(taken: TakenOffer): string {
  const last = taken.steps.findLast(({ state }) => state !== 'waiting')
  return last === undefined || last.state === 'failed' ? '' : wordsOf(last, taken)
}

interface StepLineProps {
  readonly step: Step
  readonly taken: TakenOffer
  readonly end: OrderEnd | undefined
}

function StepLine({ step, taken, end }: StepLineProps) {
  const { name, state, detail, at } = step
  const isRunning = state === 'active' || state === 'sent'
  // Without a wallet, nothing is checked: a notice says so.
  if (name === 'check' && state === 'waiting') return null
  return (
    <li class={`step step-${state}`}>
      <span aria-hidden="true">{SIGNS[state]}</span>
      <span class="step-name">
        {name === 'fill' && end !== undefined && end !== 'filled' ? ENDS[end][0] : wordsOf(step, taken)}
        <span class="visually-hidden">{state === 'failed' ? ' failed' : ''}</span>
        {detail.startsWith('0x') ? (
          <Transaction chainId={taken.chain.chainId} hash={detail} />
        ) : (
          detail !== '' && <span class="muted">{detail}</span>
        )}
      </span>
      {at && state !== 'waiting' && !end && (
        <span class="number muted">{isRunning ? formatSpan(now.value - at) : formatClock(at)}</span>
      )}
      {state === 'active' && taken.isBusy && <Prompt name={name} taken={taken} />}
    </li>
  )
}

/** The deposit address, which a connected wallet can check and pay. */
function AddressOfTaken({ taken }: { readonly taken: TakenOffer }) {
  const { chain, offer, isBusy } = taken
  const action = (use: AddressUse) => {
    const isOpen = use === 'check open'
    if (wallet.value === undefined || (!isOpen && use !== 'pay' && !isBusy)) return null
    return (
      <button
        type="button"
        class="main-action"
        disabled={isBusy}
        onClick={isOpen ? checkAddress : sendFromWallet}
      >
        {isBusy ? 'Waiting for the wallet…' : isOpen ? 'Check again' : 'Send from the wallet'}
      </button>
    )
  }
  return (
    <DepositAddress chain={chain} offer={offer} swap={ownSwap(chain.chainId, offer.orderId)}>
      {action}
    </DepositAddress>
  )
}

/** What the wallet asks for, to compare with what it shows. */
function Prompt({ name, taken }: { readonly name: Step['name']; readonly taken: TakenOffer }) {
  const { chain, offer, wanted } = taken
  const { inputToken = '', inputAmount } = offer.quote ?? {}
  if (name !== 'approve' && name !== 'deposit') return null
  const amount = <Amount chainId={chain.chainId} address={inputToken} amount={inputAmount} isShort />
  const to = wanted.mode === 'ADDRESS' ? offer.depositAddress : chain.settlement
  return (
    <span class="prompt">
      <span>
        {name === 'approve' ? 'Allow' : 'Deposit'} {amount} to{' '}
        {wanted.mode === 'ADDRESS' ? 'the address' : 'the contract'}
      </span>
      <code class="whole-address">{to}</code>
      <span>Output or refund go to</span>
      <code class="whole-address">{wanted.user}</code>
      <span class="muted">
        {name === 'deposit'
          ? 'Reject it to go back'
          : 'A second prompt follows. To cancel, reject this one in the wallet too'}
      </span>
    </span>
  )
}
