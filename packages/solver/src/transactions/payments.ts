import type { Books } from '../books.js'
import type { ChainBasics } from '../chain/chain-basics.js'
import type { Call } from '../chain/contract.js'
import type { MinedTransaction } from '../orders/order-terms.js'
import type { KeptPayment, SignedTransaction } from '../state.js'
import { keepTrying } from '../waiting.js'
import type { Offer, PaymentEnd, TransactionSender } from './transaction-sender.js'

/** Called with an attempt before it is kept. One for which it returns false, or throws, is not made. */
type OnSigned = (attempt: SignedTransaction) => boolean

/**
 * The transactions of an account on a chain: payments, approvals and cancellations. Each has one nonce and at least one attempt. An
 * attempt is kept before it is sent, and any of them may be the one that is mined. All are kept until the nonce was used
 * `confirmations` blocks ago: a reorganisation may remove them, and the later ones of the account wait for their nonce.
 */
export type Payments = ReturnType<typeof createPayments>

/** What was last done for a payment that is not mined. */
interface Offered extends Offer {
  /** When it was begun, and when its fees were chosen, by the clock that is never set. */
  readonly begunAt: number
  readonly at: number
  /** When it was sent last. */
  readonly sentAt: number
  /** Of the newest block at that time. */
  readonly blockTime: number
}

/** A block of the last second before the deadline may come late. */
const GRACE_SECONDS = 60
/** A node may show the nonce of an account before the receipt that explains it. */
const MISSING_RECEIPT_MS = 20_000
/** What was refused is sent again while no block comes. */
const REFUSED_AGAIN_MS = 5_000
/** For so many times its own duration, a slow transaction says how long others may take. One outage must not silence a solver for long. */
const COUNTS_TIMES = 5
/** What others wait for gets an empty transaction in its place when its fees were to be raised for the second time. */
const DROPPED_AFTER_RAISES = 2
const FAILED = { outcome: 'failed', hash: undefined, gasUsed: 0n, fee: 0n } as const

/** How the names of approvals and cancellations begin. The name of a payment is its order id. */
export const APPROVAL = 'approval '
export const CANCELLATION = 'cancellation '
const PURPOSES = { [APPROVAL]: 'APPROVAL', [CANCELLATION]: 'CANCELLATION', '0x': 'PAYMENT' } as const
/** The names of those that nobody waits for have chain, nonce and the earlier name: none in the state of an earlier version. */
const DONE = /^done \d+ \d+ ?/

const isDone = (id: string) => DONE.test(id)
/** Whether nobody waits for a payment any more. */
const hasEnded = ({ id, status }: KeptPayment) => isDone(id) || (status !== null && status !== 'OPEN')
/** The name of a transaction before nobody waited for it. */
const nameOf = (id: string) => id.replace(DONE, '')

/** Builds the payments of an account on one chain. */
export function createPayments(parts: ChainBasics & { readonly books: Books }, sender: TransactionSender) {
  const { chain, clock, time, state, metrics, books, signal, report } = parts
  const { chainId } = chain
  /** The names of those that are being followed although nobody waits for them. */
  const finishing = new Set<string>()
  /** By name. Empty after a restart: then each is offered at once. */
  const offers = new Map<string, Offered>()
  /** The slowest transaction of late, and when its end was seen. */
  let slowest = { ms: 0, at: Number.NEGATIVE_INFINITY }
  const roundMs = () => (clock.monotonic() - slowest.at <= COUNTS_TIMES * slowest.ms ? slowest.ms : 0)

  /** Tells what is mined, if it is known which attempt was. */
  function tell(id: string, nonce: number, { hash, outcome, gasUsed, fee: gasCost }: PaymentEnd): void {
    if (hash === undefined) return
    const name = outcome === 'dropped' ? '' : nameOf(id)
    const [, purpose = 'OTHER'] = Object.entries(PURPOSES).find(([begin]) => name.startsWith(begin)) ?? []
    const orderId = purpose === 'PAYMENT' ? (name as MinedTransaction['hash']) : undefined
    books.mined({
      chainId,
      nonce,
      hash,
      purpose,
      orderId,
      isReverted: outcome === 'reverted',
      gasUsed,
      gasCost,
    })
  }

  /** Keeps an attempt before it is sent. It returns false for one that the budget of cancellations does not allow. */
  const keep =
    (id: string, onSigned: OnSigned = () => true) =>
    (attempt: SignedTransaction): boolean => {
      const isAllowed = onSigned(attempt)
      if (isAllowed) state.addAttempt(id, chainId, attempt)
      return isAllowed
    }

  function note(id: string, offered: Offer, at: number, begunAt = at): void {
    offers.set(id, { ...offered, begunAt, at, sentAt: clock.monotonic(), blockTime: time.passed() })
  }

  /** Whether no block takes an attempt although its fees are enough, while others wait for its nonce. */
  async function isStuck({ begunAt, offer, refusal }: Offered): Promise<boolean> {
    if (clock.monotonic() - begunAt <= DROPPED_AFTER_RAISES * chain.raiseFeesAfterMs) return false
    if (!state.keptPayments(chainId).some(({ nonce }) => nonce > offer.nonce)) return false
    return refusal !== undefined || !(await sender.isTooCheap(offer))
  }

  /**
   * Does what is due for a payment that is not mined: what the node has refused is offered again with each block, and what waits for
   * long with higher fees. An empty transaction takes the place of what is stuck, and of what nobody waits for.
   */
  async function advance(
    id: string,
    last: SignedTransaction,
    isQueued: boolean,
    onSigned?: OnSigned,
  ): Promise<void> {
    const offered = offers.get(id)
    const now = clock.monotonic()
    const isNewBlock = time.passed() !== offered?.blockTime
    // Without a further block, higher fees would not have been mined either, unless none comes for want of them.
    const hasWaited =
      offered !== undefined &&
      now - offered.at > chain.raiseFeesAfterMs &&
      (isNewBlock || (await sender.isTooCheap(offered.offer)))
    const isRefused =
      offered?.refusal !== undefined && (isNewBlock || now - offered.sentAt > REFUSED_AGAIN_MS)
    if (offered !== undefined && !hasWaited && !isRefused) return
    // Not an attempt with twice its fees that was refused too: then they were not the cause.
    const before = offered?.offer ?? last
    const isDropped = offered !== undefined && !isQueued && (isDone(id) || (await isStuck(offered)))
    // One that waits for an earlier one of the account would only cost more, unless it will be too cheap itself.
    const isRaise = isDropped || (hasWaited && (!isQueued || (await sender.isTooCheap(before))))
    let next = before
    if (isRaise) {
      const higher = await sender.raise(before, isDropped)
      if (higher !== undefined && keep(id, onSigned)(higher)) {
        next = higher
        metrics.feesRaised++
      } else
        report('fees', new Error(`the payment ${last.hash} waits, and has the highest fees that are allowed`))
    }
    // A refusal is no error: that of the first attempt was reported, and an earlier one may still be mined.
    const offer = await sender.offer(next, keep(id, onSigned))
    note(id, offer, hasWaited ? now : (offered?.at ?? now), offered?.begunAt)
  }

  /**
   * Follows a payment that is under way to its end, and raises its fees while it waits.
   * @param deadline Unix time in seconds
   * @returns undefined when the signal aborts
   * @throws viem's errors, and those of the account
   */
  async function follow(
    id: string,
    deadline = Number.POSITIVE_INFINITY,
    onSigned?: OnSigned,
  ): Promise<PaymentEnd | undefined> {
    let missingSince: number | undefined
    while (!signal.aborted) {
      const attempts = state.attempts(id)
      const last = attempts.at(-1)
      if (last === undefined) return FAILED
      const progress = await sender.progress(attempts)
      if (progress.state === 'MINED') {
        tell(id, last.nonce, progress)
        const at = clock.monotonic()
        const ms = at - (offers.get(id)?.begunAt ?? at)
        if (progress.outcome !== 'dropped' && ms >= roundMs()) slowest = { ms, at }
        offers.delete(id)
        return progress
      }
      if (progress.state === 'REPLACED') {
        missingSince ??= clock.monotonic()
        if (clock.monotonic() - missingSince > MISSING_RECEIPT_MS) return FAILED
      } else {
        missingSince = undefined
        if (time.passed() > deadline + GRACE_SECONDS) {
          finish(id)
          return FAILED
        }
        await advance(id, last, progress.state === 'QUEUED', onSigned)
      }
      await clock.sleep(chain.pollIntervalMs, signal).catch(() => {})
    }
    return undefined
  }

  const isUnderWay = (id: string) => state.attempts(id).length > 0

  /** The end has been seen, and the payment may be made again. @returns its name from now on */
  function forget(id: string): string | undefined {
    const last = state.attempts(id).at(-1)
    if (last === undefined) return undefined
    const done = `done ${chainId} ${last.nonce} ${nameOf(id)}`
    offers.delete(id)
    state.renamePayment(id, done)
    return done
  }

  /** Its nonce must be used, since it holds up the later ones of the account. */
  function finish(id: string): void {
    // What was last done for it counts.
    if (finishing.has(id)) return
    const done = forget(id)
    if (done === undefined) return
    finishing.add(done)
    const follows = () => follow(done)
    void keepTrying(parts, follows, () => chain.raiseFeesAfterMs)
      .catch(() => {})
      .finally(() => finishing.delete(done))
  }

  return {
    /**
     * Signs a call, keeps it and sends it.
     * @param onSigned called before it is kept; nothing is sent when it throws
     * @returns false when it is not allowed
     * @throws what the node refuses it with, which is kept and sent again, and as `TransactionSender.send`
     */
    async send(id: string, call: Call, onSigned?: OnSigned): Promise<boolean> {
      const begunAt = clock.monotonic()
      const offer = await sender.send(call, keep(id, onSigned))
      if (offer === undefined) return false
      note(id, offer, clock.monotonic(), begunAt)
      if (offer.refusal !== undefined) throw offer.refusal
      return true
    },
    /** How long it has lately taken from the beginning of a transaction until its end was seen, in seconds: the slow ones count. */
    roundSeconds: () => roundMs() / 1000,
    /** Whether there is an attempt whose end has not been seen, or has been removed. */
    isUnderWay,
    follow,
    forget,
    /** Nobody waits for it any more, if there is one. It is followed to its end, and the payment may be made again. */
    finish,
    /** Goes on with the approvals that a stopped process has left: they are made again where they are still wanted. */
    resume(): void {
      for (const { id } of state.keptPayments(chainId)) if (id.startsWith(APPROVAL)) finish(id)
    },
    /**
     * Looks at the payments that have ended. One that a reorganisation has removed is sent again, and one that is deep is no longer kept.
     * @param reopen takes a cancellation that was removed, by its earlier name, and follows it
     * @throws viem's errors
     */
    async lookBack(reopen: (id: string) => void): Promise<void> {
      const ended = state.keptPayments(chainId).filter(hasEnded)
      if (ended.length === 0) return
      const { now, deep } = await sender.usedNonces()
      for (const { id, nonce } of ended) {
        const name = nameOf(id)
        if (nonce < deep) {
          // What it has cost is told as it is now, when no reorganisation is expected to change it.
          const progress = await sender.progress(state.attempts(id))
          if (progress.state === 'MINED') tell(id, nonce, progress)
          state.clearAttempts(id)
        } else if (nonce >= now && name.startsWith(CANCELLATION) && !isUnderWay(name)) {
          state.renamePayment(id, name)
          reopen(name)
        } else if (nonce >= now) finish(id)
      }
    },
  }
}
