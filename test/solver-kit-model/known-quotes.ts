import { bondFor } from '../../packages/protocol/src/solvers/solver.js'
import type { Address, Hex } from '../../packages/protocol/src/values/hex.js'
import type { ServiceQuote } from '../support/chain/signed-quote.js'
import { OrderState } from '../support/chain/signed-quote.js'
import { contractStruct, type WireQuote } from '../support/solvers/solver.js'
import {
  CHAIN_ID,
  FEE_TOKEN,
  type Incarnation,
  SETTLEMENT,
  SOLVER,
  settlementCall,
  USDC,
  type World,
} from './world.js'

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

/** What a request asks for, where the output is USDC. */
interface AskedTerms {
  readonly inputToken: Address
  readonly orderType: string
  readonly amount: bigint
  readonly user: Address
  readonly depositMode: string | undefined
  readonly depositDeadline: number
  readonly fillDeadline: number
}

/** Asks a solver for a quote, or for a price. @returns the offer, if it makes one, and its answer */
export async function askSolver(
  { clock, contracts }: World,
  { solver }: Pick<Incarnation, 'solver'>,
  { user, amount, ...terms }: AskedTerms,
  isIndicative: boolean,
): Promise<{ known: KnownQuote | undefined; answer: object }> {
  const swap = { ...terms, outputToken: USDC, chainId: CHAIN_ID, userAddress: user, amount: String(amount) }
  const headers = isIndicative ? { 'x-quote-kind': 'indicative' } : {}
  const answering = solver.answer({ body: swap, headers })
  await clock.advance(0)
  const answer = (await answering).body as Partial<SignedAnswer>
  const { signature } = answer
  if (answer.quote === undefined || signature === undefined) return { known: undefined, answer }
  const quote = contractStruct(answer.quote)
  const { orderId, depositAddress } = contracts.settlement.identify(quote, signature)
  const hasFee = quote.inputToken.toLowerCase() === FEE_TOKEN
  const bond = bondFor(quote.outputAmount, 500n)
  const isForAddress = terms.depositMode !== 'CONTRACT'
  const known = { quote, signature, orderId, depositAddress, isIndicative, isForAddress, hasFee, bond }
  return { known, answer }
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
