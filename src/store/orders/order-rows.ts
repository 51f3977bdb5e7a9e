import type { Insertable, Selectable } from 'kysely'
import { positionOf } from '../../../packages/protocol/src/orders/listed-order.js'
import type {
  ListedOrder,
  OrderStep,
  OrderSteps,
  OrderTerms,
} from '../../../packages/protocol/src/orders/order.js'
import type { Address, Hex } from '../../../packages/protocol/src/values/hex.js'
import type { Schema } from '../schema.js'

export type OrderRow = Selectable<Schema['orders']>

/** The row of an order. */
export function orderRow(order: ListedOrder): Insertable<Schema['orders']> {
  const { chainId, orderId, state, user, solver, terms, steps } = order
  const { blockNumber, logIndex } = positionOf(order)
  return {
    chain_id: chainId,
    order_id: orderId,
    block_number: blockNumber,
    log_index: logIndex,
    state,
    user,
    solver: solver ?? null,
    terms: terms === undefined ? null : writeTerms(terms),
    steps: writeSteps(steps),
  }
}

/** Converts a row to an order. */
export function listedOrderOf(row: OrderRow): ListedOrder {
  return {
    chainId: row.chain_id,
    orderId: row.order_id as Hex,
    state: row.state as ListedOrder['state'],
    user: row.user as Address,
    solver: (row.solver ?? undefined) as Address | undefined,
    terms: row.terms === null ? undefined : readTerms(row.terms),
    steps: readSteps(row.steps),
  }
}

/**
 * Terms and steps are JSON arrays without names, because a page of a list has hundreds of them. Names would make the rows half as
 * large again. One text is also faster to read than a column for each value.
 */
const TERMS = [
  'inputToken',
  'inputAmount',
  'outputToken',
  'outputAmount',
  'outputChainId',
  'fillDeadline',
] as const
const STEPS = ['deposited', 'settled', 'refunded'] as const

function writeTerms(terms: OrderTerms): string {
  return JSON.stringify(
    TERMS.map((name) => terms[name]),
    (_key, value) => (typeof value === 'bigint' ? String(value) : value),
  )
}

function readTerms(text: string): OrderTerms {
  const [inputToken, inputAmount, outputToken, outputAmount, outputChainId, fillDeadline] = JSON.parse(text)
  const amounts = { inputAmount: BigInt(inputAmount), outputAmount: BigInt(outputAmount) }
  return { inputToken, outputToken, ...amounts, outputChainId, fillDeadline }
}

function writeSteps(steps: OrderSteps): string {
  return JSON.stringify(STEPS.map((name) => writeStep(steps[name])))
}

function writeStep(step: OrderStep | undefined) {
  return step === undefined ? null : [step.blockNumber, step.logIndex, step.transactionHash, step.blockTime]
}

function readSteps(text: string): OrderSteps {
  const stored: readonly (Parameters<typeof readStep>[0] | null)[] = JSON.parse(text)
  return Object.fromEntries(
    STEPS.flatMap((name, index) => {
      const step = stored[index]
      return step ? [[name, readStep(step)]] : []
    }),
  )
}

function readStep([blockNumber, logIndex, transactionHash, blockTime]: [
  number,
  number,
  Hex,
  number,
]): OrderStep {
  return { blockNumber, logIndex, transactionHash, blockTime }
}
