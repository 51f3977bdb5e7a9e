import type { Chain } from './chain.js'

/**
 * Builds the time that has certainly passed: the earlier of the clock and the newest block of any chain. What removes data takes it, so
 * that a clock that is ahead removes nothing.
 * @param now the clock: Unix time in milliseconds, as the result
 * @returns a function of 0 until a chain has answered
 */
export function createProvenTime(
  chains: ReadonlyMap<number, Pick<Chain, 'headTimeMs'>>,
  now: () => number,
): () => number {
  return () => {
    const newest = [...chains.values()].map(({ headTimeMs }) => headTimeMs() ?? 0)
    return Math.min(now(), Math.max(...newest))
  }
}
