import { type GetOrderResponse, OrderState, type OrderStep } from '../../../../gen/aggregator/v1/order_pb.js'
import type { GetQuoteRecordResponse } from '../../../../gen/aggregator/v1/quote_pb.js'
import { latestNow } from '../data/clock.js'
import { timeOf } from '../data/orders/latest-orders.js'
import { group } from '../format/amount.js'
import { formatSpan } from '../format/time.js'
import { Transaction } from './id.js'
import { formatFill } from './order-rows.js'
import { Moment } from './time.js'

interface TimelineProps {
  readonly order: GetOrderResponse
  readonly record: GetQuoteRecordResponse | undefined
}

/** The steps that an order has taken, each with its time after the one before, its block and its transaction. */
export function Timeline({ order, record }: TimelineProps) {
  const { chainId } = order
  const steps = stepsOf({ order, record })
  return (
    <section class="panel" aria-labelledby="timeline-title">
      <h2 id="timeline-title">Timeline</h2>
      <ol class="timeline">
        {steps.map(({ name, atMs, step, mark }, index) => {
          const beforeMs = steps.slice(0, index).findLast(({ mark }) => !mark)?.atMs
          // A quote may be later than the time of the block with its deposit.
          const sinceMs = step && atMs && beforeMs && Math.max(0, atMs - beforeMs)
          return (
            <li key={index} class={mark && `timeline-${mark}`}>
              <p class="timeline-name">
                {name}
                {sinceMs !== undefined && (
                  <span class="number muted">
                    {sinceMs < 1000 ? '' : '+'}
                    {formatFill(sinceMs)}
                    {name === 'Refunded' && ' from the deposit'}
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
      </ol>
    </section>
  )
}

function stepsOf({ order, record }: TimelineProps) {
  const { state, deposited, settled, refunded, fillDeadline = 0 } = order
  const isSettled = state === OrderState.SETTLED
  const leftMs = isSettled || refunded ? 0 : fillDeadline * 1000 - latestNow.value
  const mark = isSettled ? 'kept' : deposited && leftMs <= 0 ? 'missed' : 'open'
  const left = leftMs > 0 ? ` in ${formatSpan(leftMs)}` : ''
  const words = mark === 'missed' ? 'The solver missed the fill deadline' : `Fill deadline${left}`
  const stepOf = (name: string, step?: OrderStep, atMs = timeOf(step), mark?: string) => {
    return { name, step, atMs, mark }
  }
  const steps = [
    stepOf('Quoted', undefined, record && Number(record.requestedAt)),
    stepOf('Deposited by contract call', deposited),
    stepOf(deposited ? 'Settled' : 'Settled from the deposit address', settled),
    stepOf(words, undefined, fillDeadline * 1000, mark),
    stepOf('Refunded', refunded),
  ]
  return steps.filter(({ step, atMs }) => step ?? atMs)
}
