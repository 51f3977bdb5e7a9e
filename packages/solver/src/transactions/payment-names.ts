import type { Hex } from 'viem'
import type { MinedTransaction } from '../solver-options.js'
import type { KeptPayment } from '../state.js'
import type { PaymentEnd } from './transaction-sender.js'

/** How the names of approvals and cancellations begin. The name of a payment is its order id, and what only fills a gap has none. */
export const APPROVAL = 'approval '
export const CANCELLATION = 'cancellation '
/** The names of those that nobody waits for have chain, nonce and the earlier name: none in the state of an earlier version. */
const DONE = /^done \d+ \d+ ?/

export const isDone = (id: string) => DONE.test(id)

/** Whether nobody waits for a payment any more. */
export function hasEnded({ id, status }: KeptPayment): boolean {
  return isDone(id) || status === 'FILLED' || status === 'FINAL' || status === 'MISSED'
}

/** The name of a transaction before nobody waited for it. */
export const nameOf = (id: string) => id.replace(DONE, '')

/** Its name from then on. */
export const doneNameOf = (chainId: number, nonce: number, id: string) =>
  `done ${chainId} ${nonce} ${nameOf(id)}`

/** What the market maker is told of a transaction that is mined; undefined when it is not known which one was. */
export function minedOf(
  id: string,
  chainId: number,
  nonce: number,
  { hash, outcome, gasUsed, fee }: PaymentEnd,
): MinedTransaction | undefined {
  if (hash === undefined) return undefined
  const name = outcome === 'dropped' ? '' : nameOf(id)
  const orderId = name.startsWith('0x') ? (name as Hex) : undefined
  const isReverted = outcome === 'reverted'
  return { chainId, nonce, hash, purpose: purposeOf(name), orderId, isReverted, gasUsed, gasCost: fee }
}

function purposeOf(name: string): MinedTransaction['purpose'] {
  if (name.startsWith('0x')) return 'PAYMENT'
  if (name.startsWith(CANCELLATION)) return 'CANCELLATION'
  return name.startsWith(APPROVAL) ? 'APPROVAL' : 'OTHER'
}
