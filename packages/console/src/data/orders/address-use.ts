import type { Quote } from '../../../../../gen/aggregator/v1/quote_pb.js'
import { modeOfNonce } from '../../../../protocol/src/quotes/nonce-mode.js'
import type { OwnSwap } from './own-swaps.js'

/** What arrives later may be kept by the contract for good (docs/decisions.md, D31). */
export const SPARE_SECONDS = 120

/** Whether a deposit address may be paid, and if not, why. Only one that may be paid is shown as such. */
export type AddressUse = 'pay' | 'other mode' | 'check failed' | 'check open' | 'too late'

/**
 * Says whether the deposit address of an offer may be paid.
 * @param swap what this browser knows of it: without a check, no wallet was connected
 * @param nowMs Unix time in milliseconds
 */
export function addressUse(
  { nonce, depositDeadline }: Pick<Quote, 'nonce' | 'depositDeadline'>,
  { check }: Pick<OwnSwap, 'check'>,
  nowMs: number,
): AddressUse {
  // The instance has told the solver another mode: the solver may cancel the offer under the user's transfer.
  if (modeOfNonce(BigInt(nonce)) === 'CONTRACT') return 'other mode'
  if (check === 'failed') return 'check failed'
  if ((depositDeadline - SPARE_SECONDS) * 1000 < nowMs) return 'too late'
  return check === 'begun' ? 'check open' : 'pay'
}
