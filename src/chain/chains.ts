import { ChainConfigError } from '../../packages/chain/src/contract/chain-config-error.js'
import type { ChainConfig } from '../config/config.js'
import { ConfigError } from '../config/environment.js'
import type { Metrics } from '../telemetry/metrics.js'
import { type Chain, createChain } from './chain.js'
import type { ChainsContext } from './context.js'

/**
 * Opens all supported chains in parallel. A chain that is down does not delay the others.
 * @param beforeStart called with each chain before it reads its first block, for listeners that must miss nothing
 * @returns the chains by chain id, in the configuration's order
 * @throws ConfigError with the configuration errors of all chains
 */
export async function openChains(
  configs: readonly ChainConfig[],
  context: ChainsContext,
  beforeStart: (chain: Chain) => void = () => {},
): Promise<ReadonlyMap<number, Chain>> {
  const chains = configs.map((config) => createChain(config, context))
  for (const chain of chains) beforeStart(chain)
  const starts = await Promise.allSettled(chains.map((chain) => chain.start()))
  const failures = starts.flatMap((start) => (start.status === 'rejected' ? [start.reason] : []))
  if (failures.length > 0) {
    await Promise.all(chains.map((chain) => chain.close()))
    throw new ConfigError(failures.map(toConfigIssue))
  }
  return new Map(chains.map((chain) => [chain.chainId, chain]))
}

/** Writes the status of all chains to the metrics. */
export function collectChainMetrics(chains: ReadonlyMap<number, Chain>, metrics: Metrics): void {
  for (const chain of chains.values()) {
    const { chainId, status, headBlock, eventBlock, lagMs, clockSkewMs } = chain.status()
    const labels = { chain_id: chainId }
    metrics.chainUp.set(labels, Number(status !== 'down'))
    metrics.chainLeader.set(labels, Number(chain.isLeader()))
    if (headBlock !== undefined) metrics.headBlock.set(labels, headBlock)
    if (eventBlock !== undefined) metrics.eventBlock.set(labels, eventBlock)
    if (lagMs !== undefined) metrics.lagSeconds.set(labels, lagMs / 1000)
    if (clockSkewMs !== undefined) metrics.clockSkewSeconds.set(labels, clockSkewMs / 1000)
  }
}

function toConfigIssue(failure: unknown): ChainConfigError {
  if (failure instanceof ChainConfigError) return failure
  throw failure
}

/**
 * Builds the time that has certainly passed: the earlier of the clock and the newest block of any chain. What removes data takes it, so
 * that a clock that is ahead removes nothing.
 * @param now the clock: Unix time in milliseconds, as the result
 * @returns a function of 0 until a chain has answered
 */
export function createProvenTime(chains: ReadonlyMap<number, Chain>, now: () => number): () => number {
  return () => {
    const newest = [...chains.values()].map(({ headTimeMs }) => headTimeMs() ?? 0)
    return Math.min(now(), Math.max(...newest))
  }
}
