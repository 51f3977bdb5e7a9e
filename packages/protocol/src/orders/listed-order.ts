import type { EventWithPosition } from './block.js'
import type { OrderEvent, OrderEventType } from './event.js'
import type { KnownOrder, ListedOrder, OrderPosition, OrderStep, OrderSteps, OrderTerms } from './order.js'

const STEP_OF: Readonly<Record<OrderEventType, keyof OrderSteps>> = {
  Deposited: 'deposited',
  Settled: 'settled',
  Refunded: 'refunded',
}

/** The first of these steps that an order has gives its state. */
const STATES = [
  ['refunded', 'REFUNDED'],
  ['settled', 'SETTLED'],
  ['deposited', 'DEPOSITED'],
] as const

/**
 * An order with the step of one more event. The order of the events does not matter.
 * @param known the order so far; undefined for its first event
 */
export function withStep(known: ListedOrder | undefined, { event, order }: EventWithPosition): ListedOrder {
  const { chainId, orderId, user } = event
  const steps = { ...known?.steps, [STEP_OF[event.type]]: toStep(event) }
  return {
    chainId,
    orderId,
    state: stateOf(steps),
    user,
    solver: known?.solver ?? event.solver,
    terms: known?.terms ?? termsOf(event, order),
    steps,
  }
}

/** An order without the step of an event that a reorganisation has removed; undefined when it has no other step. */
export function withoutStep(known: ListedOrder, type: OrderEventType): ListedOrder | undefined {
  const { [STEP_OF[type]]: _, ...steps } = known.steps
  return Object.keys(steps).length === 0 ? undefined : { ...known, steps, state: stateOf(steps) }
}

/** An order with what the contract has of it. */
export function withTerms(known: ListedOrder, order: KnownOrder): ListedOrder {
  return { ...known, solver: order.solver, terms: pickTerms(order) }
}

/** Whether an answer of the contract can be an order, by what its events say. A node can answer with other values. */
export function isAnswerFor(
  { user, solver }: Pick<ListedOrder, 'user' | 'solver'>,
  order: KnownOrder,
): boolean {
  return order.user === user && (solver === undefined || order.solver === solver)
}

/** The position of an order in a list. A late `Deposited` moves it, and so does a reorganisation. */
export function positionOf({ orderId, steps }: ListedOrder): OrderPosition {
  const { blockNumber, logIndex } = firstStepOf(steps)
  return { blockNumber, logIndex, orderId }
}

/** The first step of an order: the order of the steps is that of the contract. */
export function firstStepOf(steps: OrderSteps): OrderStep {
  const first = steps.deposited ?? steps.settled ?? steps.refunded
  if (first === undefined) throw new Error('an order in a list has a step')
  return first
}

function stateOf(steps: OrderSteps): ListedOrder['state'] {
  const last = STATES.find(([step]) => steps[step] !== undefined)
  if (last === undefined) throw new Error('an order in a list has a step')
  return last[1]
}

function toStep({ blockNumber, logIndex, transactionHash, blockTime }: OrderEvent): OrderStep {
  return { blockNumber, logIndex, transactionHash, blockTime }
}

/** The terms in an event or in the contract. A deposit pays on its own chain, because the contract requires it. */
function termsOf(event: OrderEvent, order: KnownOrder | undefined): OrderTerms | undefined {
  if (event.type === 'Deposited') return pickTerms({ ...event, outputChainId: event.chainId })
  return order && pickTerms(order)
}

function pickTerms(terms: OrderTerms): OrderTerms {
  const { inputToken, inputAmount, outputToken, outputAmount, outputChainId, fillDeadline } = terms
  return { inputToken, inputAmount, outputToken, outputAmount, outputChainId, fillDeadline }
}
