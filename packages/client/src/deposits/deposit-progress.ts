import type { Hex } from 'viem'

const STEPS: readonly unknown[] = ['approve', 'deposit']
const STATES: readonly unknown[] = ['asked', 'late', 'refused', 'sent', 'mined']

/** How far a deposit is. It can be stored as JSON. */
export interface DepositProgress {
  /** The approval of the input token, or the deposit itself: a call of the contract, a transfer, or a batch of all calls. */
  readonly step: 'approve' | 'deposit'
  /**
   * The wallet is asked, it is still asked for a transfer that would come too late, it has sent nothing, it has sent the transaction or the
   * batch, or the chain has that. It stays `asked` when the chain has the deposit before the wallet has answered, because the prompt may
   * still be open.
   */
  readonly state: 'asked' | 'late' | 'refused' | 'sent' | 'mined'
  /** Until when the user may confirm a transfer that the wallet is asked for, Unix time in seconds: count down to it. From then on the state is `late`. */
  readonly confirmBy?: number | undefined
  /** The transaction that the wallet has sent, or that an account of the app has signed, from `asked` on. */
  readonly hash?: Hex | undefined
  /** The batch that the wallet has sent (EIP-5792). */
  readonly batchId?: string | undefined
}

/**
 * Whether the wallet was asked for the deposit itself, and may have sent it. `sendDeposit` follows such a deposit. Do not check its offer
 * again: the deposit has used its nonce.
 * @param earlier what `onProgress` has told last of the offer
 */
export function isDepositBegun(earlier: DepositProgress | null | undefined): boolean {
  return earlier?.step === 'deposit' && earlier.state !== 'refused'
}

/** @throws TypeError for what `onProgress` does not tell: taken as nothing, it would have a deposit sent twice */
export function checkEarlier(earlier: unknown): void {
  const { step, state } = Object(earlier)
  if ((earlier ?? undefined) !== undefined && !(STEPS.includes(step) && STATES.includes(state)))
    throw new TypeError('earlier must be what onProgress has told')
}
