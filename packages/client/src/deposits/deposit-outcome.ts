import type { Client, Hex } from 'viem'
import type { Request } from '../../../protocol/src/node/simulate.js'
import { pause } from '../calls/retry-delay.js'

/**
 * Why a deposit is not there. REVERTED: its transaction changed nothing. REPLACED: the user has replaced it in the wallet
 * with something else. EXPIRED: the time for the deposit is over. TOO_LATE_FOR_TRANSFER: the wallet was not asked, because a
 * transfer could come too late, or the offer is gone. INSUFFICIENT_BALANCE: the wallet was not asked, because its account
 * has too little of the input token. APPROVAL_TOO_LOW: the user has lowered the approval in the wallet. APPROVAL_UNCERTAIN:
 * it is not known whether the wallet has sent the approval, which moves no tokens. UNCERTAIN: it is not known whether the
 * wallet has sent anything, or tokens came to the deposit address too late.
 */
export type DepositReason =
  | 'REVERTED'
  | 'REPLACED'
  | 'EXPIRED'
  | 'TOO_LATE_FOR_TRANSFER'
  | 'INSUFFICIENT_BALANCE'
  | 'APPROVAL_TOO_LOW'
  | 'APPROVAL_UNCERTAIN'
  | 'UNCERTAIN'

/** The error of a deposit that is not there. `explainForUser` says the reason in plain words. */
export class DepositError extends Error {
  override readonly name = 'DepositError'
  readonly reason: DepositReason

  constructor(reason: DepositReason, cause?: unknown) {
    super(`The deposit is not known to be there: ${reason}.`, { cause })
    this.reason = reason
  }
}

/** Why what was sent has no effect, as far as the node or the wallet says; undefined while it may have one. */
export type Outcome = DepositReason | undefined
/** What the chain has: the effect, or a reason why it cannot come any more. */
export type Found = 'there' | Outcome

/** A transaction as a node gives it. */
export interface NodeTransaction {
  readonly from: Hex
  readonly nonce: Hex
  readonly input: Hex
}

/** What is watched of a transaction. */
export interface Watched {
  readonly client: Client
  /**
   * Whether a transaction is the one that the wallet was asked for. That of a bundler is not: another one may do the same
   * later.
   */
  readonly isOwn: (transaction: NodeTransaction) => boolean
  /** What it means when the transaction was mined, and the chain does not have its effect. */
  readonly withoutEffect?: Outcome
}

/**
 * Watches a transaction.
 * @returns reads why it has no effect: REVERTED by a receipt, and REPLACED when the node does not know it and its sender has
 * used its nonce for another one. Of a transaction of others, UNCERTAIN is said in their place. It throws what the node
 * throws
 */
export function watchTransaction({ client, isOwn, withoutEffect }: Watched, hash: Hex) {
  const ask = async <T>(method: string, ...params: unknown[]) =>
    (await (client.request as Request)({ method, params })) as T | null
  let sent: NodeTransaction | undefined
  const sayOf = (reason: DepositReason) => (sent && isOwn(sent) ? reason : 'UNCERTAIN')
  return async (): Promise<Outcome> => {
    const [receipt, known] = await Promise.all([
      ask<{ readonly status?: Hex }>('eth_getTransactionReceipt', hash),
      ask<NodeTransaction>('eth_getTransactionByHash', hash),
    ])
    sent = known ?? sent
    if (receipt) return receipt.status && Number(receipt.status) === 0 ? sayOf('REVERTED') : withoutEffect
    if (known || !sent) return undefined
    const count = await ask('eth_getTransactionCount', sent.from, 'latest')
    return Number(count) > Number(sent.nonce) ? sayOf('REPLACED') : undefined
  }
}

/** What to wait for. */
export interface Awaited {
  readonly look: () => Promise<Found>
  /** Reads what has become of what was sent; undefined when nothing is known of it. */
  readonly readOutcome: (() => Promise<Outcome>) | undefined
  /** When to give up, Unix time in milliseconds: after a minute at the earliest. */
  readonly until: number
  readonly pollMs: number
  readonly signal: AbortSignal
}

/** Nodes behind one URL may differ by a block or two. */
const LOOKS_BEFORE_FAILURE = 3
const MINUTE_MS = 60_000
/** How long the chain must lack the effect before the word of a wallet, or of a node that may lag, is believed. */
const PATIENCE_MS: Partial<Readonly<Record<DepositReason, number>>> = {
  REPLACED: MINUTE_MS,
  UNCERTAIN: MINUTE_MS,
  APPROVAL_TOO_LOW: 30_000,
}

/**
 * Waits until the chain has the effect of what the wallet was asked for. Reads that fail are repeated.
 * @throws DepositError; the reason of the signal; what a read throws when nothing is known of what was sent
 */
export async function untilThere({ look, readOutcome, until, pollMs, signal }: Awaited): Promise<void> {
  const end = Math.max(until, Date.now() + MINUTE_MS)
  let outcome: Outcome
  let isReading = false
  let isFresh = false
  let last: Outcome
  let looks = 0
  let since = 0

  /** A wallet may never answer, which must not hide what the chain has. */
  async function readInBackground(): Promise<void> {
    if (isReading || readOutcome === undefined) return
    isReading = true
    outcome = await readOutcome().catch(() => undefined)
    isFresh = true
    isReading = false
  }

  /** Looks once. @returns why the effect is not there, once that is to be believed */
  async function judge(): Promise<Found> {
    const found = await look()
    if (found === 'there') return found
    // What was read before the last look counts once.
    if (!found && readOutcome && !isFresh) return undefined
    isFresh = false
    const reason = found ?? outcome
    if (reason !== last) looks = 0
    const now = Date.now()
    if (looks++ === 0) since = now
    last = reason
    const patienceMs = (!found && reason && PATIENCE_MS[reason]) || 0
    return looks >= LOOKS_BEFORE_FAILURE && now - since >= patienceMs ? reason : undefined
  }

  for (;;) {
    signal.throwIfAborted()
    void readInBackground()
    const judged = await judge().catch((error: unknown) => {
      if (readOutcome === undefined) throw error
      // What the chain has is not known: nothing is counted.
      looks = 0
    })
    if (judged === 'there') return
    if (judged) throw new DepositError(judged)
    const isUnknown = readOutcome === undefined && last === undefined
    if (isUnknown || Date.now() > end) throw new DepositError('UNCERTAIN')
    await pause(pollMs, signal)
  }
}
