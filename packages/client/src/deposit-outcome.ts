import type { Client, Hex } from 'viem'
import type { Request } from '../../protocol/src/read-view.js'

/**
 * Why a deposit is not there. REVERTED: it changed nothing. REPLACED: the user has replaced it in the wallet with something else.
 * EXPIRED: the time for the deposit is over. UNCERTAIN: the wallet was asked, and it is not known whether it has sent anything.
 */
export type DepositReason = 'REVERTED' | 'REPLACED' | 'EXPIRED' | 'UNCERTAIN'

const SENTENCES: Readonly<Record<DepositReason, string>> = {
  REVERTED: 'The transaction has reverted: it changed nothing.',
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

/** Nodes behind one URL may differ by a block or two. */
const LOOKS_BEFORE_REPLACED = 3

/**
 * Watches a transaction.
 * @returns reads what has become of it: `replaced` when its sender has used its nonce for another one. It throws what the node throws
 */
export function watchTransaction(client: Client, hash: Hex): () => Promise<Outcome> {
  const request: Request = client.request
  let sent: { readonly from: Hex; readonly nonce: Hex } | undefined
  let looksWithout = 0
  return async () => {
    const receipt = (await request({ method: 'eth_getTransactionReceipt', params: [hash] })) as Receipt
    if (receipt) return receipt.status === '0x0' ? 'failed' : 'mined'
    sent ??=
      ((await request({ method: 'eth_getTransactionByHash', params: [hash] })) as typeof sent) ?? undefined
    if (sent === undefined) return 'pending'
    const count = await request({ method: 'eth_getTransactionCount', params: [sent.from, 'latest'] })
    looksWithout = Number(count) > Number(sent.nonce) ? looksWithout + 1 : 0
    return looksWithout < LOOKS_BEFORE_REPLACED ? 'pending' : 'replaced'
  }
}

type Receipt = { readonly status?: Hex } | null

/** What to wait for. */
export interface Awaited {
  /** Reads what has become of what was sent; undefined when nothing is known of it. */
  readonly readOutcome: (() => Promise<Outcome>) | undefined
  /** Whether the chain has its effect; undefined when being mined is all. A transaction of a smart account may be mined without. */
  readonly isThere?: (() => Promise<boolean>) | undefined
  /** Whether it can have no effect any more. */
  readonly isTooLate?: (() => Promise<boolean>) | undefined
  /** When to give up, Unix time in milliseconds. */
  readonly until: number
  readonly pollMs: number
  readonly signal: AbortSignal | undefined
}

/**
 * Waits until the chain has the effect of what the wallet was asked for. Reads that fail are repeated.
 * @throws DepositError; the reason of the signal; what a read throws when nothing is known of what was sent
 */
export async function untilThere(options: Awaited): Promise<void> {
  const { readOutcome, until, pollMs, signal } = options
  for (;;) {
    signal?.throwIfAborted()
    const end = await look(options).catch((error: unknown) => {
      if (readOutcome === undefined) throw error
    })
    if (end === 'there') return
    if (end !== undefined) throw new DepositError(end)
    if (readOutcome === undefined || Date.now() > until) throw new DepositError('UNCERTAIN')
    await new Promise((resolve) => setTimeout(resolve, pollMs))
  }
}

/** @returns undefined while it is not decided */
async function look(options: Awaited): Promise<'there' | DepositReason | undefined> {
  const { readOutcome, isThere, isTooLate } = options
  const outcome = await readOutcome?.()
  if (isThere === undefined ? outcome === 'mined' : await isThere()) return 'there'
  if (outcome === 'failed') return 'REVERTED'
  if (outcome === 'replaced') return 'REPLACED'
  // It may be mined between these reads.
  return (await isTooLate?.()) && !(await isThere?.()) ? 'EXPIRED' : undefined
}
