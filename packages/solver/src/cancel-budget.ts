import type { SolverState } from './state.js'

/** A cancellation would cost more than the hour allows. */
export class OverBudget extends Error {}

/** Bounds what cancellations cost in an hour of the chain's time. In wei. */
export type CancelBudget = ReturnType<typeof createCancelBudget>

export interface CancelBudgetOptions {
  readonly chain: { readonly chainId: number; readonly maxCancelFees: bigint }
  readonly state: Pick<SolverState, 'position' | 'setPosition'>
  /** The chain's time, Unix seconds. */
  readonly now: () => number
  /** A cancellation did not fit: called at most once an hour. */
  readonly onSpent: (error: OverBudget) => void
}

interface Cost {
  readonly id: string
  readonly time: number
  readonly wei: string
}

const HOUR_SECONDS = 3_600
const RETRY_SECONDS = 60

/** Builds it. What was spent is kept over restarts. */
export function createCancelBudget({ chain, state, now, onSpent }: CancelBudgetOptions) {
  const name = `cancellation fees ${chain.chainId}`
  let costs: readonly Cost[] = JSON.parse(state.position(name) ?? '[]')
  /** The last one that did not fit, until one fits. */
  let refused: { readonly time: number; readonly highest: bigint } | undefined
  let reportedAt: number | undefined

  const recent = () => costs.filter(({ time }) => time > now() - HOUR_SECONDS)
  const withoutIt = (id: string) => recent().filter((cost) => cost.id !== id)
  const isWithin = (others: readonly Cost[], wei: bigint) =>
    others.reduce((sum, cost) => sum + BigInt(cost.wei), wei) <= chain.maxCancelFees

  function put(id: string, wei: bigint): void {
    costs = [...withoutIt(id), { id, time: now(), wei: String(wei) }]
    state.setPosition(name, JSON.stringify(costs))
  }

  function refuse(highest: bigint): never {
    refused = { time: now(), highest }
    const error = new OverBudget(
      `chain ${chain.chainId}: cancellations would cost more than maxCancelFees in an hour, so quotes stay open`,
    )
    if (reportedAt === undefined || now() >= reportedAt + HOUR_SECONDS) {
      reportedAt = now()
      onSpent(error)
    }
    throw error
  }

  /** The last cancellation did not fit and would not fit now, or nothing is left. */
  function isSpent(): boolean {
    const isRecent = refused !== undefined && now() < refused.time + HOUR_SECONDS
    return !isWithin(recent(), isRecent && refused !== undefined ? refused.highest : 1n)
  }

  return {
    /**
     * Counts a cancellation that is about to be sent, at its highest cost; again when its fees are raised.
     * @throws OverBudget when the hour does not allow it
     */
    reserve(id: string, highest: bigint): void {
      if (!isWithin(withoutIt(id), highest)) refuse(highest)
      refused = undefined
      put(id, highest)
    },
    /** Counts what a cancellation has cost in the end. */
    charge: put,
    isSpent,
    /** Whether a cancellation may fit: there is room for the last one that did not, or fees may have fallen since. */
    isWorthATry: () => !isSpent() || (refused !== undefined && now() >= refused.time + RETRY_SECONDS),
  }
}
