import type { Hex } from 'viem'
import { isOverflow } from '../../../protocol/src/node/revert.js'
import type { Order } from '../../../protocol/src/orders/order.js'
import type { ChainParts } from '../chain/chain-parts.js'
import { readOrder, settleCall, settlementCall } from '../chain/contract.js'
import { inPlace } from '../chain/pacing.js'
import { isLeftToCancellation } from '../ending/ending-rules.js'
import type { StoredOrder } from '../state.js'
import { keepTrying } from '../waiting.js'
import { type Deposit, MAX_REVERTS } from './deposits.js'
import { endOrder } from './order-end.js'
import { findDeposit, lookAtOrder } from './order-look.js'

/**
 * Pays the orders of a solver on one chain, each once. An order goes this way:
 * 1. Its deposit is found by a log, or by a look at what was quoted: `deposited`.
 * 2. `lookAtOrder` asks the chain until it has ended, or is to be paid. No step is repeated, since the chain decides at each.
 * 3. The payment is sent and followed.
 * 4. `endOrder` reports it, and ends its quote.
 * 5. `lookBack` reads it until its end is deep, and opens it again after a reorganisation.
 */
export type Filling = ReturnType<typeof createFilling>

const MAX_DELAY_MS = 10_000

/** Builds the filling of a chain. */
export function createFilling(parts: ChainParts) {
  const { chain, clock, state, ledger, time, addresses, payments, metrics, books, signal, onError } = parts
  const { chainId, confirmations, pollIntervalMs } = chain
  const deposits = new Map<Hex, Deposit>()
  const inSlot = createSlots(chain.maxPayments)
  /** The heads at which orders were first known to have ended. */
  const endedSince = new Map<Hex, bigint>()
  /** The newest block when this state began: what is settled later is its own. */
  const begun = Number(state.position(`begun ${chainId}`) ?? time.atDepth(0).blockNumber)
  state.setPosition(`begun ${chainId}`, String(begun))

  const isOpen = (orderId: Hex) => state.order(orderId)?.status === 'OPEN'
  const pauseMs = (failures: number) => Math.min(pollIntervalMs * 2 ** (failures + 1), MAX_DELAY_MS)

  /** Goes on with an order, if it is open. @param seen of its deposit */
  function run(orderId: Hex, seen: Partial<Deposit> = {}): void {
    if (signal.aborted || !isOpen(orderId)) return
    const deposit = Object.assign(deposits.get(orderId) ?? { isSeen: false, reverts: 0 }, seen)
    deposits.set(orderId, deposit)
    deposit.running ??= inPlace('PAY', () => toEnd(orderId, deposit))
      // The state file may fail.
      .catch((error) => signal.aborted || onError(error))
      .then(() => void deposits.delete(orderId))
  }

  /** An order that cannot be paid is tried again until its deadline, and holds up no other one. */
  async function toEnd(orderId: Hex, deposit: Deposit): Promise<void> {
    while (isOpen(orderId)) {
      await keepTrying(parts, () => step(state.order(orderId), deposit), pauseMs)
      if (isOpen(orderId)) await clock.sleep(pollIntervalMs, signal)
    }
  }

  async function step(order: StoredOrder | undefined, deposit: Deposit): Promise<void> {
    if (order?.status !== 'OPEN') return
    const { orderId, signed } = order
    // A stopped process may have left more payments than the limit allows. None is made twice.
    const isUnderWay = payments.isUnderWay(orderId)
    const look = () => lookAtOrder(parts, order, deposit)
    const isDue = isUnderWay || (await look().finally(() => Object.assign(deposit, { isSeen: true })))
    if (!isDue) return
    const isAtAddress = signed !== undefined && deposit.place === 'ADDRESS'
    const deadline = isAtAddress ? addresses.lastSettle(signed.quote) : order.fillDeadline
    // What an order of a quote that the state has not costs when it is missed is not known here: it comes last.
    const bond = signed === undefined ? 0n : ledger.bondOf(signed.quote)
    await inSlot({ bond, deadline }, !isUnderWay, async () => {
      if (!isUnderWay) await send(order, deposit)
      await follow(order, deposit, deadline)
    })
  }

  /** @throws Error for a quote that is being cancelled, and for an order that the contract cannot pay any more */
  async function send({ orderId, ...order }: StoredOrder, { place }: Deposit): Promise<void> {
    const signed = place === 'ADDRESS' ? order.signed : undefined
    const call = signed === undefined ? settlementCall(chain, 'fill', [orderId]) : settleCall(chain, signed)
    const onSigned = () => {
      if (signed !== undefined && isLeftToCancellation(ledger.get(signed.quote.nonce), time.due()))
        throw new Error(`the quote of order ${orderId} is being cancelled`)
      return true
    }
    await payments.send(orderId, call, onSigned).catch((error) => {
      if (signed !== undefined || !isOverflow(error)) throw error
      const words = `order ${orderId} cannot be filled: the contract has released the bond that was reserved for it (Panic 17)`
      throw new Error(words, { cause: error })
    })
    metrics.paymentsSent++
  }

  /** @throws Error when it has reverted, so that the next one is sent later */
  async function follow(order: StoredOrder, deposit: Deposit, deadline: number): Promise<void> {
    const { orderId } = order
    const ended = await payments.follow(orderId, deadline)
    if (ended?.outcome === 'success') await endOrder(parts, order, deposit, 'FILLED', { payment: ended })
    else if (ended !== undefined) payments.forget(orderId)
    if (ended?.outcome !== 'reverted' && ended?.outcome !== 'dropped') return
    if (ended.outcome === 'reverted') metrics.paymentsReverted++
    const isLast = ++deposit.reverts >= MAX_REVERTS
    const how = ended.outcome === 'reverted' ? 'reverted' : 'made place for others, as no block has taken it,'
    const what = isLast ? ` for the ${MAX_REVERTS}th time, and is not sent any more` : ''
    const error = new Error(`the payment ${ended.hash} of order ${orderId} ${how}${what}`)
    // The fees were the cause of the other end: nothing is gained by a pause.
    if (ended.outcome === 'reverted') throw error
    onError(error)
  }

  /** A quote was taken, whatever is known of its order: the chain says what came of it. */
  function taken(orderId: Hex, fillDeadline: number, seen?: Partial<Deposit>): void {
    state.addOrder({ chainId, orderId, fillDeadline })
    state.setStatus(orderId, 'OPEN')
    run(orderId, seen)
  }

  /**
   * A reorganisation may remove a payment or a refund, or the deposit too, until that is deep: then the nonce is unused again, and
   * anybody may use it.
   */
  async function lookBackAt(order: StoredOrder): Promise<void> {
    const { orderId, signed } = order
    // A node that does not have this block must not answer for it.
    const head = time.atDepth(0)
    const since = endedSince.get(orderId) ?? head.blockNumber
    endedSince.set(orderId, since)
    // The end may be in a later block: the next head was read after it was seen.
    if (since === head.blockNumber) return
    const now = await readOrder(chain, orderId, head)
    const isEnded = hasEnded(order, now)
    if (isEnded && head.blockNumber - since < confirmations) return
    endedSince.delete(orderId)
    if (isEnded) return state.setStatus(orderId, 'FINAL')
    // Its payment would revert.
    if ((await findDeposit(parts, now, signed)) === undefined) payments.forget(orderId)
    ledger.reopen(signed)
    taken(orderId, order.fillDeadline)
  }

  function hasEnded({ status, fillDeadline }: StoredOrder, { state }: Order): boolean {
    if (status === 'FILLED') return state === 'SETTLED'
    return state === 'REFUNDED' || (state === 'DEPOSITED' && time.surelyPassed() > fillDeadline)
  }

  return {
    /**
     * Pays an order if its deposit is there, or comes until the deadline. Known orders are ignored.
     * @param seen what a log says of it
     */
    deposited(orderId: Hex, fillDeadline: number, seen?: Partial<Deposit>): void {
      state.addOrder({ chainId, orderId, fillDeadline })
      run(orderId, seen)
    },
    /** An own order was settled, by whomever. One that is known as such is ignored: its block is read often. */
    settled(orderId: Hex, settledBy: Hex, blockNumber: number): void {
      const order = state.order(orderId)
      if (order?.status === 'FINAL' || blockNumber <= begun || books.filledBy(orderId) === settledBy) return
      // The deadline of a price that is not kept is unknown. With an old one, its order would be forgotten before its end is deep.
      taken(orderId, order?.fillDeadline ?? time.passed(), { settledBy })
    },
    taken,
    /** Looks again at the orders whose end is not deep yet. @throws ChainReadError, viem's errors */
    async lookBack(): Promise<void> {
      const ended = (['FILLED', 'MISSED'] as const).flatMap((status) => state.orders(chainId, status))
      await Promise.all(ended.map(lookBackAt))
    },
    /** Goes on with the orders that the state has. */
    resume(): void {
      for (const { orderId } of state.orders(chainId, 'OPEN')) run(orderId)
    },
    /** The orders that are under way. */
    deposits,
    /** @returns when nothing runs any more, after the signal has aborted */
    async idle(): Promise<void> {
      await Promise.all([...deposits.values()].map(({ running }) => running))
    },
  }
}

/** What waits. What risks most comes first, so that many small orders cannot make a large one late. */
interface Urgency {
  /** What is lost when it is late, in units of the bond token. */
  readonly bond: bigint
  /** Unix time in seconds. */
  readonly deadline: number
}

/** Limits how much runs at once. Of those that risk the same, the nearest deadline comes first. */
export function createSlots(limit: number) {
  const waiting: (Urgency & { readonly start: () => void })[] = []
  let used = 0

  /** What has ended leaves its slot to another one. */
  function leave(): void {
    if (used > limit || waiting.length === 0) used--
    else waiting.sort(byUrgency).shift()?.start()
  }

  /** @param mayWait otherwise it runs at once, and counts */
  return async <T>(urgency: Urgency, mayWait: boolean, work: () => Promise<T>): Promise<T> => {
    if (mayWait && used >= limit) await new Promise<void>((start) => waiting.push({ ...urgency, start }))
    else used++
    return work().finally(leave)
  }
}

/** As `sort` takes it. */
const byUrgency = (one: Urgency, other: Urgency) =>
  Number(other.bond - one.bond) || one.deadline - other.deadline
