import type { ComponentChildren } from 'preact'
import { wallet } from '../../wallet/connected-wallet.js'
import type { WalletCode } from '../../wallet/load.js'
import { useAttempt } from '../../wallet/use-attempt.js'
import { Connect } from '../swap/connect.js'

interface RefundProps {
  /** Sends the transaction. */
  readonly refund: (code: WalletCode) => Promise<void>
  /** What there is to refund, and why. */
  readonly children: ComponentChildren
}

/** A refund through the user's wallet. Anyone may send it: the tokens go to the user of the order. */
export function Refund({ refund, children }: RefundProps) {
  const { isBusy, complaint, attempt } = useAttempt()
  return (
    <div class="notice notice-warning">
      {children}
      {wallet.value === undefined ? (
        <Connect />
      ) : (
        <button type="button" class="main-action" disabled={isBusy} onClick={() => attempt(refund)}>
          {isBusy ? 'Waiting for the wallet…' : 'Refund'}
        </button>
      )}
      {complaint}
    </div>
  )
}

/** Whether a block can be after a deadline: its time has whole seconds. @param deadline Unix time in seconds */
export const isPast = (deadline: number, nowMs: number) => (deadline + 1) * 1000 < nowMs
