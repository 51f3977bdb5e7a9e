import type { ChainBasics } from '../chain/chain-parts.js'

/** A cancellation would cost more than the hour allows. */
export class OverBudget extends Error {}

/** Bounds what cancellations cost in an hour of the chain's time. In wei. */
export type CancelBudget = ReturnType<typeof createCancelBudget>

interface Cost {
  /** Of a cancellation that is under way, or of the minute in which others have ended: an hour may have thousands. */
  readonly id: string
  readonly time: number
  readonly wei: string
}

const HOUR_SECONDS = 3_600

/** Builds it. What was spent is kept over restarts. What does not fit goes to `onError`, at most once an hour. */
export function createCancelBudget({ chain, state, time, onError }: ChainBasics) {
  const now = time.passed
  const name = `cancellation fees ${chain.chainId}`
  let costs: readonly Cost[] = JSON.parse(state.position(name) ?? '[]')
  let reportedAt: number | undefined

  const without = (id?: string) => costs.filter((cost) => cost.time > now() - HOUR_SECONDS && cost.id !== id)
  /** What the hour has left. @param id a cancellation that is not counted */
  const left = (id?: string) => without(id).reduce((rest, { wei }) => rest - BigInt(wei), chain.maxCancelFees)

  function put(others: readonly Cost[], id: string, wei: bigint): void {
    costs = [...others, { id, time: now(), wei: String(wei) }]
    state.setPosition(name, JSON.stringify(costs))
  }

  /** A cancellation does not fit, or a quote whose cancellation might not. */
  function report(): void {
    if (reportedAt !== undefined && now() < reportedAt + HOUR_SECONDS) return
    reportedAt = now()
    onError(
      new OverBudget(
        `chain ${chain.chainId}: of maxCancelFees (${chain.maxCancelFees} wei an hour), ${left()} are left. That might not pay for the end of what is open, so the solver declines: raise it, or wait`,
      ),
    )
  }

  return {
    left: () => left(),
    report,
    /**
     * Counts a cancellation that is about to be sent, at its highest cost; again when its fees are raised.
     * @param above the quotes that risk more, and are still to be cancelled: as much is left for each
     * @returns false when the hour does not allow it
     */
    reserve(id: string, highest: bigint, above = 0): boolean {
      const isWithin = highest * BigInt(1 + above) <= left(id)
      if (isWithin) put(without(id), id, highest)
      else report()
      return isWithin
    },
    /** Counts what a cancellation has cost in the end: nothing if it was not sent. */
    charge(id: string, wei: bigint): void {
      const minute = `minute ${Math.floor(now() / 60)}`
      const ended = without(id).find((cost) => cost.id === minute)
      const others = without(id).filter((cost) => cost !== ended)
      put(others, minute, wei + BigInt(ended?.wei ?? 0))
    },
  }
}
