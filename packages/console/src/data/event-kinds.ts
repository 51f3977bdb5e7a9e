import { OrderState } from '../../../../gen/aggregator/v1/order_pb.js'
import type { OrderEventType } from '../../../protocol/src/orders/event.js'
import type { Tone } from '../components/state-mark.js'

/** What a kind of event does to its order, and how the console shows it. */
interface EventKind {
  readonly tone: Tone
  /** The words before the solver; undefined where the event says more than its solver. */
  readonly ofSolver?: string
  /** The step of the order that it is. */
  readonly step: 'deposited' | 'settled' | 'refunded'
  /** The state of the order after it. */
  readonly state: OrderState
}

/** The kinds of events, in the order in which an order has them. */
export const EVENT_KINDS: Readonly<Record<OrderEventType, EventKind>> = {
  Deposited: { tone: 'waiting', step: 'deposited', state: OrderState.DEPOSITED },
  Settled: { tone: 'good', ofSolver: 'by', step: 'settled', state: OrderState.SETTLED },
  Refunded: { tone: 'bad', ofSolver: 'not filled by', step: 'refunded', state: OrderState.REFUNDED },
}

/** The kind of an event; undefined for `Reverted`, and for one of a newer instance. */
export function kindOf(type: string): EventKind | undefined {
  return (EVENT_KINDS as Readonly<Record<string, EventKind>>)[type]
}
