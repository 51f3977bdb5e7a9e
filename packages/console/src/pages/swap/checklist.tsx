import { useEffect } from 'preact/hooks'
import { OrderState } from '../../../../../gen/aggregator/v1/order_pb.js'
import { OrderId, SolverLabel } from '../../components/id.js'
import { Amount } from '../../components/token-amount.js'
import { orderService } from '../../data/api.js'
import { hrefOn } from '../../data/chains.js'
import { now } from '../../data/clock.js'
import { useQuery } from '../../data/query.js'
import { shorten } from '../../format/shorten.js'
import { formatDuration } from '../../format/time.js'
import { DepositAddress } from './deposit-address.js'
import { leaveOffer, reportEnd, type Step, type TakenOffer } from './taken-offer.js'

const FILL_POLL_MS = 3000
const SIGNS: Readonly<Record<Step['state'], string>> = { waiting: '○', active: '◐', done: '✓', failed: '✕' }
const NAMES: Readonly<Record<Step['name'], readonly [waiting: string, active: string, done: string]>> = {
  check: ['Check the quote', 'Checking the quote', 'Quote checked through your wallet'],
  approve: ['Approve', 'Approve in your wallet', 'Approved'],
  deposit: ['Deposit', 'Waiting for the deposit', 'Deposited'],
  fill: ['Fill', 'Waiting for the solver', 'Done'],
}

/** The swap that the user has begun: a list that fills as it goes. */
export function Checklist({ taken }: { readonly taken: TakenOffer }) {
  const { chain, offer, steps, problem, wish } = taken
  const { chainId } = chain
  const { quote, orderId } = offer
  const end = useOrderEnd(taken)
  const isOver = end !== undefined
  const isFailed = steps.some(({ state }) => state === 'failed')
  return (
    <div class="checklist">
      <dl class="facts">
        <dt>Sell</dt>
        <dd>
          <Amount chainId={chainId} address={quote?.inputToken ?? ''} amount={quote?.inputAmount} />
        </dd>
        <dt>Buy</dt>
        <dd>
          <Amount chainId={chainId} address={quote?.outputToken ?? ''} amount={quote?.outputAmount} />
        </dd>
        <dt>Solver</dt>
        <dd>
          <SolverLabel address={quote?.solver ?? ''} />
        </dd>
        <dt>Order</dt>
        <dd>
          <OrderId id={orderId} />
        </dd>
      </dl>
      <ol class="steps" aria-label="Steps of the swap" aria-live="polite">
        {steps.map((step) => (
          <StepLine key={step.name} step={step} isUnchecked={wish.mode === 'ADDRESS' && !taken.isChecked} />
        ))}
      </ol>
      {wish.mode === 'ADDRESS' && !isOver && <DepositAddress taken={taken} />}
      {problem !== '' && (
        <p class="notice notice-bad" role="alert">
          {problem}
        </p>
      )}
      <a class={isOver ? 'main-action' : 'second-action'} href={hrefOn(chainId, 'order', orderId)}>
        See the order
      </a>
      {(isOver || isFailed || wish.mode === 'ADDRESS') && (
        <button type="button" class="second-action" onClick={leaveOffer}>
          {isOver ? 'New swap' : 'Back to the quotes'}
        </button>
      )}
    </div>
  )
}

function StepLine({ step, isUnchecked }: { readonly step: Step; readonly isUnchecked: boolean }) {
  const { name, state, detail, startedAt, endedAt } = step
  const isSkipped = name === 'check' && state === 'waiting' && isUnchecked
  const word = NAMES[name][state === 'done' ? 2 : state === 'active' ? 1 : 0]
  const ms =
    startedAt === undefined || state === 'waiting'
      ? undefined
      : (endedAt ?? Math.max(now.value, startedAt)) - startedAt
  return (
    <li class={`step step-${state}`}>
      <span aria-hidden="true">{SIGNS[state]}</span>
      <span class="step-name">
        {isSkipped
          ? 'Not checked: no wallet is connected'
          : name === 'fill' && state === 'done'
            ? detail
            : word}
        <span class="visually-hidden">{state === 'failed' ? ' failed' : ''}</span>
        {detail !== '' && name !== 'fill' && (
          <span class="muted" title={detail}>
            {detail.startsWith('0x') ? shorten(detail) : detail}
          </span>
        )}
      </span>
      {ms !== undefined && <span class="number muted">{formatDuration(ms)}</span>}
    </li>
  )
}

/** Follows the order until it is settled or refunded. */
function useOrderEnd({ chain, offer, steps }: TakenOffer): OrderState | undefined {
  const { chainId } = chain
  const { orderId } = offer
  const isWanted = steps.some(
    ({ name, state }) => name === 'deposit' && (state === 'active' || state === 'done'),
  )
  const order = useQuery(
    isWanted ? `order ${chainId} ${orderId}` : undefined,
    (signal) => orderService.getOrder({ chainId, orderId }, { signal }),
    { refreshMs: FILL_POLL_MS, refreshOn: (event) => event.orderId === orderId },
  )
  const state = order.data?.state
  const isOver = state === OrderState.SETTLED || state === OrderState.REFUNDED
  useEffect(() => {
    if (isOver)
      reportEnd(
        state === OrderState.SETTLED ? 'Filled: you have the output' : 'Refunded: you have the input back',
      )
  }, [isOver, state])
  return isOver ? state : undefined
}
