import { bondFor } from '../../packages/protocol/src/solvers/solver.js'
import type { Address, Hex } from '../../packages/protocol/src/values/hex.js'
import type { ServiceQuote } from '../support/chain/signed-quote.js'
import { OrderState } from '../support/model-chain/settlement-state.js'
import { contractStruct, type WireQuote } from '../support/solvers/solver.js'
import { FEE_TOKEN, SETTLEMENT, SOLVER, settlementCall, type World } from './world.js'

/** A quote that the solver has signed: everybody has it. */
export interface KnownQuote {
  readonly quote: ServiceQuote
  readonly signature: Hex
  readonly orderId: Hex
  readonly depositAddress: Address
  /** A price: no honest user can take it. */
  readonly isIndicative: boolean
  /** Not asked for with CONTRACT. */
  readonly isForAddress: boolean
  readonly hasFee: boolean
  readonly bond: bigint
}

/** An offer, as an endpoint answers. */
interface SignedAnswer {
  readonly quote: WireQuote
  readonly signature: Hex
}

/** Whether an answer of an endpoint is an offer. */
export const isSigned = (answer: unknown): answer is SignedAnswer => Object(answer).signature !== undefined

/** Reads an offer. */
export function toKnown(
  { contracts }: World,
  answer: SignedAnswer,
  request: Pick<KnownQuote, 'isIndicative' | 'isForAddress'>,
): KnownQuote {
  const quote = contractStruct(answer.quote)
  const { orderId, depositAddress } = contracts.settlement.identify(quote, answer.signature)
  const hasFee = quote.inputToken.toLowerCase() === FEE_TOKEN
  const bond = bondFor(quote.outputAmount, 500n)
  return { ...request, quote, signature: answer.signature, orderId, depositAddress, hasFee, bond }
}

/** Whether a payment of the solver would succeed in a block of the same time. */
export function isPayable({ contracts, chain }: World, { quote, signature, orderId }: KnownQuote): boolean {
  const { settlement } = contracts
  const isDeposited = settlement.order(orderId).state === OrderState.DEPOSITED
  // Its order has ended, or can no longer come.
  if (!isDeposited && settlement.isNonceUsed(SOLVER, quote.nonce)) return false
  const data = isDeposited ? settlementCall('fill', [orderId]) : settlementCall('settle', [quote, signature])
  try {
    contracts.simulate({ sender: SOLVER, now: chain.head().timestamp }, SETTLEMENT, data)
    return true
  } catch {
    return false
  }
}
