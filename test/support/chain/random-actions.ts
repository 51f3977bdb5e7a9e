import { type DevAccount, MIN_ORDER } from '../../../packages/cli/src/devnet/deploy.js'
import type { Random } from '../random.js'
import type { Action, ActionKind, Order, OrderActions } from './order-actions.js'
import { apply, type OpenOrders } from './order-book.js'

/** The traders: at least one in each list. */
export interface Traders {
  users: readonly [DevAccount, ...DevAccount[]]
  solvers: readonly [DevAccount, ...DevAccount[]]
}

/** The contract takes deadlines of 32 bits. This one is after any time that a test travels to. */
const NEVER = { min: 4_000_000_000, max: 4_294_967_295 }
/** The longest time since the quote of a late address deposit ended. */
const PAST_SECONDS = 1_000_000
/** The minimum of the contract. */
const MIN_OUTPUT = Number(MIN_ORDER)
/** An order reserves 5% of it: thousands of orders fit a minimum bond. */
const MAX_OUTPUT = 100_000

/** The frequency of each kind, as long as there are orders for it. */
const KINDS: readonly [ActionKind, ...ActionKind[]] = [
  'deposit',
  'deposit',
  'deposit',
  'deposit',
  'fill',
  'fill',
  'refund',
  'settle',
  'refundAddressDeposit',
]

/** Makes random actions that succeed. */
export function createRandomActions(random: Random, actions: OrderActions, { users, solvers }: Traders) {
  const deadline = () => random.integer(NEVER.min, NEVER.max)

  /** An order of random size between random traders. */
  function order(fillDeadline = deadline()): Order {
    return actions.order({
      user: random.pick(users).address,
      solver: random.pick(solvers),
      inputAmount: 1n + (random.uint256() >> 128n),
      outputAmount: BigInt(random.integer(MIN_OUTPUT, MAX_OUTPUT)),
      fillDeadline,
    })
  }

  function takeFrom(orders: Order[]): Order | undefined {
    const [taken] = orders.splice(random.integer(0, Math.max(0, orders.length - 1)), 1)
    return taken
  }

  function action(fillable: Order[], refundable: Order[], time: number, canExpire: boolean): Action {
    const sender = random.pick(users).address
    const kind = random.pick(KINDS)
    if (kind === 'settle') return actions.settle(order(), sender)
    if (kind === 'refundAddressDeposit') {
      const late = order(time - random.integer(1, PAST_SECONDS))
      const amount = random.pick([late.inputAmount, late.inputAmount, 1n + late.inputAmount / 2n])
      return actions.refundAddressDeposit(late, amount, sender)
    }
    const taken = kind === 'fill' ? takeFrom(fillable) : kind === 'refund' ? takeFrom(refundable) : undefined
    if (taken !== undefined) return kind === 'fill' ? actions.fill(taken) : actions.refund(taken, sender)
    return actions.deposit(order(canExpire && random.integer(1, 3) === 1 ? time : undefined))
  }

  return {
    order,
    /**
     * Actions for one block, those of one order in their order.
     * @param open the open orders before the block; updated to those after it
     * @param time the block's time, Unix seconds
     * @param isExact whether the block will have that time, or one up to a few seconds later
     */
    block(open: OpenOrders, count: number, time: number, { isExact }: { isExact: boolean }): Action[] {
      const fillable = [...open.values()].filter(({ fillDeadline }) => fillDeadline >= NEVER.min)
      const refundable = [...open.values()].filter(({ fillDeadline }) => fillDeadline < time)
      return Array.from({ length: count }, () => {
        const next = action(fillable, refundable, time, isExact)
        if (next.kind === 'deposit' && next.order.fillDeadline >= NEVER.min) fillable.push(next.order)
        apply(open, next)
        return next
      })
    },
    /**
     * Some of the actions that a reorganisation drops, which succeed again on the new chain, in their order.
     * @param open the open orders before them; updated to those after them
     */
    again(open: OpenOrders, dropped: readonly Action[], time: number): Action[] {
      return dropped.filter((action) => {
        const { kind, order, notBefore, notAfter } = action
        const needsDeposit = kind === 'fill' || kind === 'refund'
        const isPossible =
          notBefore <= time && (notAfter === Number.POSITIVE_INFINITY || notAfter >= NEVER.min)
        if (!isPossible || (needsDeposit && !open.has(order.orderId)) || random.integer(1, 2) === 1)
          return false
        apply(open, action)
        return true
      })
    },
    /** How many of `events` are in each of `blocks`. Some blocks may get none. */
    shares(events: number, blocks: number): number[] {
      const shares = new Array<number>(blocks).fill(0)
      for (let event = 0; event < events; event++) {
        const block = random.integer(0, blocks - 1)
        shares[block] = (shares[block] ?? 0) + 1
      }
      return shares
    },
    /** Distributes actions over blocks, in their order. */
    spread<T>(items: readonly T[], blocks: number): T[][] {
      const spread: T[][] = Array.from({ length: blocks }, () => [])
      const places = items.map(() => random.integer(0, blocks - 1)).sort((a, b) => a - b)
      for (const [index, item] of items.entries()) spread[places[index] ?? 0]?.push(item)
      return spread
    },
    /** Whether the next block's time is a second later than the last one's, which lets orders expire. */
    ticks: () => random.integer(1, 4) === 1,
  }
}
