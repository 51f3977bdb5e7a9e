import { type GetOrderResponse, OrderState, type OrderStep } from '../../../../gen/aggregator/v1/order_pb.js'
import type { GetQuoteRecordResponse } from '../../../../gen/aggregator/v1/quote_pb.js'
import { now } from '../data/clock.js'
import { timeOf } from '../data/orders/latest-orders.js'
import { group } from '../format/amount.js'
import { Transaction } from './id.js'
import { formatFill } from './order-rows.js'
import { Moment } from './time.js'

interface TimelineProps {
  readonly order: GetOrderResponse
  readonly record: GetQuoteRecordResponse | undefined
}

/** The steps that an order has taken, each with its time after the one before, its block and its transaction. */
export function Timeline({ order, record }: TimelineProps) {
  const { state, chainId, fillDeadline = 0 } = order
  const steps = stepsOf({ order, record })
  return (
    <section class="panel" aria-labelledby="timeline-title">
      <h2 id="timeline-title">Timeline</h2>
      <ol class="timeline">
        {steps.map(({ name, atMs, step }, index) => {
          const beforeMs = steps[index - 1]?.atMs
          // A quote may be later than the time of the block with its deposit.
          const sinceMs = atMs && beforeMs && Math.max(0, atMs - beforeMs)
          return (
            <li key={name}>
              <p class="timeline-name">
                {name}
                {sinceMs !== undefined && (
                  <span class="number muted">
                    {sinceMs < 1000 ? '' : '+'}
                    {formatFill(sinceMs)}
                  </span>
                )}
              </p>
              <p class="timeline-facts muted">
                {atMs !== undefined && <Moment seconds={atMs / 1000} />}
                {step !== undefined && <span class="number">block {group(String(step.blockNumber))}</span>}
                {step?.transactionHash !== undefined && (
                  <Transaction chainId={chainId} hash={step.transactionHash} />
                )}
              </p>
            </li>
          )
        })}
        {state === OrderState.DEPOSITED && (
          <li class="timeline-open timeline-name">
            {fillDeadline * 1000 > now.value ? 'Waiting for the solver' : 'Not filled in time'}
          </li>
        )}
      </ol>
    </section>
  )
}

function stepsOf({ order, record }: TimelineProps) {
  const { deposited, settled, refunded, fillDeadline = 0 } = order
  const deadlineMs = fillDeadline * 1000
  const isMissed = (timeOf(refunded) ?? 0) > deadlineMs
  const stepOf = (name: string, step: OrderStep | undefined) => ({ name, step, atMs: timeOf(step) })
  return [
    { name: 'Quoted', step: undefined, atMs: record && Number(record.requestedAt) },
    stepOf('Deposited', deposited),
    { name: 'The solver missed the fill deadline', step: undefined, atMs: isMissed ? deadlineMs : undefined },
    stepOf('Settled', settled),
    stepOf('Refunded', refunded),
  ].filter(({ step, atMs }) => step ?? atMs)
}
