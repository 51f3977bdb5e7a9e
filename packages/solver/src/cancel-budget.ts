import type { SolverState } from './state.js'

/** Bounds what cancellations cost in an hour of the chain's time. In wei. */
export interface CancelBudget {
  /** Counts a cancellation that is about to be sent, at its highest cost; again when its fees are raised. @throws Error when the hour does not allow it */
  reserve(id: string, highest: bigint): void
  /** Counts what a cancellation has cost in the end. */
  charge(id: string, cost: bigint): void
  /** The last cancellation did not fit, or the next one would not. */
  isSpent(): boolean
}

interface Cost {
  readonly id: string
  readonly time: number
  readonly wei: string
}

const HOUR_SECONDS = 3_600

/** Builds it. It is kept over restarts. @param now the chain's time, Unix seconds */
export function createCancelBudget(
  chain: { readonly chainId: number; readonly maxCancelFees: bigint },
  state: Pick<SolverState, 'position' | 'setPosition'>,
  now: () => number,
): CancelBudget {
  const name = `cancellation fees ${chain.chainId}`
  let costs: readonly Cost[] = JSON.parse(state.position(name) ?? '[]')
  /** What the last one that did not fit would have cost. */
  let wanted = 1n

  const recent = () => costs.filter(({ time }) => time > now() - HOUR_SECONDS)
  const withoutIt = (id: string) => recent().filter((cost) => cost.id !== id)
  const isWithin = (others: readonly Cost[], wei: bigint) =>
    others.reduce((sum, cost) => sum + BigInt(cost.wei), wei) <= chain.maxCancelFees

  function put(id: string, wei: bigint): void {
    costs = [...withoutIt(id), { id, time: now(), wei: String(wei) }]
    state.setPosition(name, JSON.stringify(costs))
  }

  return {
    reserve(id, highest) {
      if (!isWithin(withoutIt(id), highest)) {
        wanted = highest
        throw new Error(
          `chain ${chain.chainId}: cancellations would cost more than maxCancelFees in an hour, so quotes stay open`,
        )
      }
      wanted = 1n
      put(id, highest)
    },
    charge: put,
    isSpent: () => !isWithin(recent(), wanted),
  }
}
