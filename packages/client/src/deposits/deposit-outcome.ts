import type { Client, Hex } from 'viem'
import type { Request } from '../../../protocol/src/node/simulate.js'

/**
 * Why a deposit is not there. REVERTED: it changed nothing. REPLACED: the user has replaced it in the wallet with something else.
 * EXPIRED: the time for the deposit is over. UNCERTAIN: the wallet was asked, and it is not known whether it has sent anything.
 */
export type DepositReason = 'REVERTED' | 'REPLACED' | 'EXPIRED' | 'UNCERTAIN'

const SENTENCES: Readonly<Record<DepositReason, string>> = {
  REVERTED: 'The transaction has reverted: nothing was deposited.',
  REPLACED: 'The transaction was cancelled or replaced in the wallet.',
  EXPIRED: 'The offer has expired, and nothing was deposited.',
  UNCERTAIN: 'It is not known whether the wallet has sent anything: look into it before you try again.',
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

/** What has become of a transaction, or of a batch of calls. */
export type Outcome = 'pending' | 'mined' | 'failed' | 'replaced'

/**
 * Watches a transaction.
 * @returns reads what has become of it: `replaced` when its sender has used its nonce for another one. It throws what the node throws
 */
export function watchTransaction(client: Client, hash: Hex): () => Promise<Outcome> {
  const request: Request = client.request
  let sent: { readonly from: Hex; readonly nonce: Hex } | undefined
  return async () => {
    const receipt = (await request({ method: 'eth_getTransactionReceipt', params: [hash] })) as Receipt
    if (receipt) return receipt.status === '0x0' ? 'failed' : 'mined'
    sent ??=
      ((await request({ method: 'eth_getTransactionByHash', params: [hash] })) as typeof sent) ?? undefined
    if (sent === undefined) return 'pending'
    const count = await request({ method: 'eth_getTransactionCount', params: [sent.from, 'latest'] })
    return Number(count) > Number(sent.nonce) ? 'replaced' : 'pending'
  }
}

type Receipt = { readonly status?: Hex } | null

/** What to wait for. */
export interface Awaited {
  /** Reads what has become of what was sent; undefined when nothing is known of it. */
  readonly readOutcome: (() => Promise<Outcome>) | undefined
  /** Whether the chain has its effect. A wallet may know its transaction by something else than a hash, or replace it. */
  readonly isThere: () => Promise<boolean>
  /** Whether it can have no effect any more. */
  readonly isTooLate: () => Promise<boolean>
  /** When to give up, Unix time in milliseconds. */
  readonly until: number
  readonly pollMs: number
  readonly signal: AbortSignal | undefined
}

/** Nodes behind one URL may differ by a block or two. */
const LOOKS_BEFORE_FAILURE = 3

/**
 * Waits until the chain has the effect of what the wallet was asked for. Reads that fail are repeated.
 * @throws DepositError; the reason of the signal; what a read throws when nothing is known of what was sent
 */
export async function untilThere(options: Awaited): Promise<void> {
  const { readOutcome, isThere, isTooLate, until, pollMs, signal } = options
  let outcome: Outcome = 'pending'
  let isReading = false
  let failures = 0

  /** A wallet may never answer, which must not hide what the chain has. */
  async function readInBackground(): Promise<void> {
    if (isReading || readOutcome === undefined) return
    isReading = true
    outcome = await readOutcome().catch(() => outcome)
    isReading = false
  }

  /** @returns undefined while it is not decided */
  async function look(): Promise<'there' | DepositReason | undefined> {
    void readInBackground()
    if (await isThere()) return 'there'
    if (outcome === 'failed') return 'REVERTED'
    if (outcome === 'replaced') return 'REPLACED'
    return (await isTooLate()) ? 'EXPIRED' : undefined
  }

  for (;;) {
    signal?.throwIfAborted()
    const end = await look().catch((error: unknown) => {
      if (readOutcome === undefined) throw error
    })
    if (end === 'there') return
    failures = end === undefined ? 0 : failures + 1
    if (end !== undefined && failures === LOOKS_BEFORE_FAILURE) throw new DepositError(end)
    if ((readOutcome === undefined && end === undefined) || Date.now() > until)
      throw new DepositError('UNCERTAIN')
    await new Promise((resolve) => setTimeout(resolve, pollMs))
  }
}
