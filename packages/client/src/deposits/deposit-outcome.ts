import type { Client, Hex } from 'viem'
import type { Request } from '../../../protocol/src/node/simulate.js'
import { pause } from '../calls/retry-delay.js'

/**
 * Why a deposit is not there. REVERTED: its transaction changed nothing. REPLACED: the user has replaced it in the wallet with something
 * else. EXPIRED: the time for the deposit is over. TOO_LATE_FOR_TRANSFER: the wallet was not asked, because a transfer could come too
 * late, or the offer is gone. APPROVAL_TOO_LOW: the user has lowered the approval in the wallet. UNCERTAIN: it is not known whether the
 * wallet has sent anything, or tokens came to the deposit address too late.
 */
export type DepositReason =
  | 'REVERTED'
  | 'REPLACED'
  | 'EXPIRED'
  | 'TOO_LATE_FOR_TRANSFER'
  | 'APPROVAL_TOO_LOW'
  | 'UNCERTAIN'

const SENTENCES: Readonly<Record<DepositReason, string>> = {
  REVERTED: 'The transaction has reverted: nothing was deposited.',
  REPLACED: 'The transaction was cancelled or replaced in the wallet.',
  EXPIRED: 'The offer has expired, and nothing was deposited.',
  TOO_LATE_FOR_TRANSFER: 'It is too late for a transfer, and the wallet was not asked.',
  APPROVAL_TOO_LOW: 'The approval is too low, and nothing was deposited.',
  UNCERTAIN: 'It is not known whether the deposit is there: look into the wallet before you try again.',
}

/** The error of a deposit that is not there. */
export class DepositError extends Error {
  override readonly name = 'DepositError'
  readonly reason: DepositReason

  constructor(reason: DepositReason, cause?: unknown) {
    super(SENTENCES[reason], { cause })
    this.reason = reason
  }
}

/** Why what was sent has no effect, as far as the node or the wallet says; undefined while it may have one. */
export type Outcome = DepositReason | undefined

/**
 * Watches a transaction.
 * @param withoutEffect what it means when it was mined, and the chain does not have its effect
 * @returns reads why it has no effect: REVERTED by a receipt, and REPLACED when the node does not know it and its sender has used its
 *   nonce for another one. It throws what the node throws
 */
export function watchTransaction(client: Client, hash: Hex, withoutEffect?: Outcome): () => Promise<Outcome> {
  const ask = (method: string, ...params: unknown[]) =>
    (client.request as Request)({ method, params }) as Promise<Readonly<Record<string, Hex>> | null>
  let sent: Readonly<Record<string, Hex>> | null
  return async () => {
    const receipt = await ask('eth_getTransactionReceipt', hash)
    if (receipt) return receipt.status && Number(receipt.status) === 0 ? 'REVERTED' : withoutEffect
    const known = await ask('eth_getTransactionByHash', hash)
    sent = known ?? sent
    if (known || !sent) return undefined
    const count = await ask('eth_getTransactionCount', sent.from, 'latest')
    return Number(count) > Number(sent.nonce) ? 'REPLACED' : undefined
  }
}

/** What to wait for. */
export interface Awaited {
  /** Reads what the chain has: the effect, or a reason why it cannot come any more. */
  readonly look: () => Promise<'there' | Outcome>
  /** Reads what has become of what was sent; undefined when nothing is known of it. */
  readonly readOutcome: (() => Promise<Outcome>) | undefined
  /** When to give up, Unix time in milliseconds. */
  readonly until: number
  readonly pollMs: number
  readonly signal: AbortSignal
}

/** Nodes behind one URL may differ by a block or two. */
const LOOKS_BEFORE_FAILURE = 3
/** How long the chain must lack the effect before the word of a wallet, or of a node that may lag, is believed. */
const PATIENCE_MS: Partial<Readonly<Record<DepositReason, number>>> = {
  REPLACED: 60_000,
  UNCERTAIN: 60_000,
  APPROVAL_TOO_LOW: 10_000,
}

/**
 * Waits until the chain has the effect of what the wallet was asked for. Reads that fail are repeated.
 * @throws DepositError; the reason of the signal; what a read throws when nothing is known of what was sent
 */
export async function untilThere({ look, readOutcome, until, pollMs, signal }: Awaited): Promise<void> {
  let outcome: Outcome
  let isReading = false
  let last: Outcome
  let looks = 0
  let since = 0

  /** A wallet may never answer, which must not hide what the chain has. */
  async function readInBackground(): Promise<void> {
    if (isReading || readOutcome === undefined) return
    isReading = true
    outcome = await readOutcome().catch(() => outcome)
    isReading = false
  }

  /** Looks once. @returns why the effect is not there, once that is to be believed */
  async function judge(): Promise<'there' | Outcome> {
    const found = await look()
    const end = found ?? outcome
    if (end === 'there') return end
    if (end !== last) looks = 0
    const now = Date.now()
    if (looks++ === 0) since = now
    last = end
    const patienceMs = (found === undefined && end && PATIENCE_MS[end]) || 0
    return looks >= LOOKS_BEFORE_FAILURE && now - since >= patienceMs ? end : undefined
  }

  for (;;) {
    signal.throwIfAborted()
    void readInBackground()
    const end = await judge().catch((error: unknown) => {
      if (readOutcome === undefined) throw error
      // What the chain has is not known: nothing is counted.
      looks = 0
    })
    if (end === 'there') return
    if (end) throw new DepositError(end)
    const isUnknown = readOutcome === undefined && last === undefined
    if (isUnknown || Date.now() > until) throw new DepositError('UNCERTAIN')
    await pause(pollMs, signal)
  }
}
