import type { Quote } from '../../../../../gen/aggregator/v1/quote_pb.js'
import { modeOfNonce } from '../../../../protocol/src/quotes/nonce-mode.js'
import { isDepositBegun, isDepositSeen, type OwnSwap } from './own-swaps.js'

/** What arrives later may be kept by the contract for good (docs/decisions.md, D31). */
export const SPARE_SECONDS = 120

/** Whether a deposit address may be paid, and if not, why. Only one that may be paid is shown as such. A wallet sends the whole only. */
export type AddressUse =
  | 'pay'
  | 'pay the rest'
  | 'paid'
  | 'asked'
  | 'asked too late'
  | 'other mode'
  | 'check failed'
  | 'dead'
  | 'check open'
  | 'too late'

/** What is known of the chain. */
interface Known {
  /** How much of the input token is at the address; undefined while no wallet has read it. */
  readonly held: bigint | undefined
  /** Whether the contract takes the offer no more. */
  readonly isDead: boolean
  /** Unix time in milliseconds. */
  readonly nowMs: number
}

/**
 * Says whether the deposit address of an offer may be paid.
 * @param swap what this browser knows of it: without a check, no wallet was connected
 */
export function addressUse(
  { nonce, depositDeadline, inputAmount }: Pick<Quote, 'nonce' | 'depositDeadline' | 'inputAmount'>,
  swap: Pick<OwnSwap, 'check' | 'progress'> | undefined,
  { held, isDead, nowMs }: Known,
): AddressUse {
  // Who pays again pays twice.
  if (held !== undefined && held >= BigInt(inputAmount)) return 'paid'
  const isTooLate = (depositDeadline - SPARE_SECONDS) * 1000 < nowMs
  if (isDepositSeen(swap)) return 'paid'
  if (isDepositBegun(swap)) return isTooLate && swap?.progress?.state !== 'sent' ? 'asked too late' : 'asked'
  // The instance has told the solver another mode: the solver may cancel the offer under the user's transfer.
  if (modeOfNonce(BigInt(nonce)) === 'CONTRACT') return 'other mode'
  if (swap?.check === 'failed') return 'check failed'
  if (isDead) return 'dead'
  if (isTooLate) return 'too late'
  if (swap?.check === 'begun') return 'check open'
  return held ? 'pay the rest' : 'pay'
}
