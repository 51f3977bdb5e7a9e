import type { ChainConfig } from '../config.js'
import { ConfigError } from '../environment.js'
import type { Metrics } from '../telemetry/metrics.js'
import type { Journal } from './announcer.js'
import { type Chain, type ChainOptions, createChain } from './chain.js'
import { ChainMistake } from './introduce.js'

const FIRST_ANSWER_TIMEOUT_MS = 3000

/**
 * Opens all supported chains at once, by chain id in the configuration's order. A chain that is down keeps nobody.
 * @throws ConfigError with the mistakes of all chains
 */
export async function openChains(
  configs: readonly ChainConfig[],
  options: Omit<ChainOptions, 'createJournal'> & { readonly journalOf: (chainId: number) => Journal },
): Promise<ReadonlyMap<number, Chain>> {
  const chains = configs.map((config) => {
    return createChain(config, { ...options, createJournal: () => options.journalOf(config.chainId) })
  })
  const starts = await Promise.allSettled(chains.map((chain) => chain.start(FIRST_ANSWER_TIMEOUT_MS)))
  const failures = starts.flatMap((start) => (start.status === 'rejected' ? [start.reason] : []))
  if (failures.length > 0) {
    await Promise.all(chains.map((chain) => chain.close()))
    throw new ConfigError(failures.map(toMistake))
  }
  return new Map(chains.map((chain) => [chain.chainId, chain]))
}

/** Ends all chains' connections. */
export async function closeChains(chains: ReadonlyMap<number, Chain>): Promise<void> {
  await Promise.all([...chains.values()].map((chain) => chain.close()))
}

/** Puts what is known of the chains into the metrics. */
export function measureChains(
  chains: ReadonlyMap<number, Chain>,
  metrics: Pick<Metrics, 'chainUp' | 'chainReader' | 'headBlock' | 'eventBlock' | 'lagSeconds'>,
): void {
  for (const chain of chains.values()) {
    const { chainId, status, headBlock, eventBlock, lagMs } = chain.status()
    const labels = { chain_id: chainId }
    metrics.chainUp.set(labels, Number(status !== 'down'))
    metrics.chainReader.set(labels, Number(chain.isReadHere()))
    if (headBlock !== undefined) metrics.headBlock.set(labels, headBlock)
    if (eventBlock !== undefined) metrics.eventBlock.set(labels, eventBlock)
    if (lagMs !== undefined) metrics.lagSeconds.set(labels, lagMs / 1000)
  }
}

function toMistake(failure: unknown): ChainMistake {
  if (failure instanceof ChainMistake) return failure
  throw failure
}
