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
type StoredTerms = [
  inputToken: Address,
  inputAmount: string,
  outputToken: Address,
  outputAmount: string,
  outputChainId: number,
  fillDeadline: number,
]
type StoredStep = [blockNumber: number, logIndex: number, transactionHash: Hex, blockTime: number]
type StoredSteps = [deposited: StoredStep | null, settled: StoredStep | null, refunded: StoredStep | null]

function writeTerms(terms: OrderTerms): string {
  const { inputToken, inputAmount, outputToken, outputAmount, outputChainId, fillDeadline } = terms
  const stored: StoredTerms = [
    inputToken,
    String(inputAmount),
    outputToken,
    String(outputAmount),
    outputChainId,
    fillDeadline,
  ]
  return JSON.stringify(stored)
}

function readTerms(text: string): OrderTerms {
  const [inputToken, inputAmount, outputToken, outputAmount, outputChainId, fillDeadline]: StoredTerms =
    JSON.parse(text)
  return {
    inputToken,
    inputAmount: BigInt(inputAmount),
    outputToken,
    outputAmount: BigInt(outputAmount),
    outputChainId,
    fillDeadline,
  }
}

function writeSteps({ deposited, settled, refunded }: OrderSteps): string {
  const stored: StoredSteps = [writeStep(deposited), writeStep(settled), writeStep(refunded)]
  return JSON.stringify(stored)
}

function writeStep(step: OrderStep | undefined): StoredStep | null {
  return step === undefined ? null : [step.blockNumber, step.logIndex, step.transactionHash, step.blockTime]
}

/** Converts the steps of a row. */
export function readSteps(text: string): OrderSteps {
  const [deposited, settled, refunded]: StoredSteps = JSON.parse(text)
  const steps: { -readonly [Step in keyof OrderSteps]: OrderSteps[Step] } = {}
  if (deposited !== null) steps.deposited = readStep(deposited)
  if (settled !== null) steps.settled = readStep(settled)
  if (refunded !== null) steps.refunded = readStep(refunded)
  return steps
}

function readStep([blockNumber, logIndex, transactionHash, blockTime]: StoredStep): OrderStep {
  return { blockNumber, logIndex, transactionHash, blockTime }
}
