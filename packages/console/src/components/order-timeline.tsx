import { type GetOrderResponse, OrderState, type OrderStep } from '../../../../gen/aggregator/v1/order_pb.js'
import type { GetQuoteRecordResponse } from '../../../../gen/aggregator/v1/quote_pb.js'
import { now } from '../data/clock.js'
import { group } from '../format/amount.js'
import { formatAge, formatDuration } from '../format/time.js'
import { Id } from './id.js'
import { Age } from './time.js'

interface TimelineStep {
  readonly name: string
  readonly atMs: number | undefined
  readonly step: OrderStep | undefined
  readonly note: string
}

/** The steps that an order has taken: when, in which block and transaction, and how long after the one before. */
export function Timeline({
  order,
  record,
}: {
  readonly order: GetOrderResponse
  readonly record: GetQuoteRecordResponse | undefined
}) {
  const { deposited, settled, refunded, state, fillDeadline = 0 } = order
  const stepOf = (name: string, step: OrderStep | undefined, note = ''): TimelineStep[] =>
    step === undefined
      ? []
      : [{ name, step, note, atMs: step.blockTime === undefined ? undefined : Number(step.blockTime) * 1000 }]
  const isAddressDeposit = deposited === undefined && state !== OrderState.DEPOSITED
  const steps: TimelineStep[] = [
    ...(record === undefined
      ? []
      : [{ name: 'Quoted', atMs: Number(record.requestedAt), step: undefined, note: '' }]),
    ...(isAddressDeposit
      ? [
          {
            name: 'Paid to the deposit address',
            atMs: undefined,
            step: undefined,
            note: 'The contract has no event of it.',
          },
        ]
      : stepOf('Deposited', deposited)),
    ...stepOf('Settled', settled, 'The user has the output.'),
    ...stepOf('Refunded', refunded, 'The user has the input back.'),
  ]
  return (
    <section class="panel" aria-labelledby="timeline-title">
      <h2 id="timeline-title">Timeline</h2>
      <ol class="timeline">
        {steps.map((each, index) => (
          <TimelineItem key={each.name} each={each} before={steps[index - 1]} />
        ))}
        {state === OrderState.DEPOSITED && (
          <li class="timeline-open">
            <p class="timeline-name">
              {fillDeadline * 1000 > now.value ? 'Waiting for the solver' : 'Not filled in time'}
            </p>
            <p class="muted">fill deadline {formatAge(fillDeadline * 1000, now.value)}</p>
          </li>
        )}
      </ol>
    </section>
  )
}

function TimelineItem({
  each,
  before,
}: {
  readonly each: TimelineStep
  readonly before: TimelineStep | undefined
}) {
  const { name, atMs, step, note } = each
  // Times of blocks have whole seconds: a quote may be later than its deposit.
  const sinceMs =
    atMs === undefined || before?.atMs === undefined ? undefined : Math.max(0, atMs - before.atMs)
  return (
    <li>
      <p class="timeline-name">
        {name}
        {sinceMs !== undefined && (
          <span class="number muted">{sinceMs < 1000 ? '<1 s' : `+${formatDuration(sinceMs)}`}</span>
        )}
      </p>
      <p class="timeline-facts muted">
        {atMs !== undefined && <Age ms={atMs} />}
        {step !== undefined && <span class="number">block {group(String(step.blockNumber))}</span>}
        {step?.transactionHash !== undefined && <Id text={step.transactionHash} label="transaction" />}
      </p>
      {note !== '' && <p class="muted">{note}</p>}
    </li>
  )
}
