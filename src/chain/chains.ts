import type { Config } from '../config.js'
import { ConfigError } from '../environment.js'
import type { Logger } from '../telemetry/log.js'
import { type Chain, createChain } from './chain.js'
import { ChainMistake } from './introduce.js'

const FIRST_ANSWER_TIMEOUT_MS = 3000

/**
 * Opens all supported chains at once, by chain id in the configuration's order. A chain that is down keeps nobody.
 * @throws ConfigError with the mistakes of all chains
 */
export async function openChains(
  { chains: configs, protocolName }: Pick<Config, 'chains' | 'protocolName'>,
  log: Logger,
): Promise<ReadonlyMap<number, Chain>> {
  const chains = configs.map((config) => createChain(config, protocolName, log))
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

function toMistake(failure: unknown): ChainMistake {
  if (failure instanceof ChainMistake) return failure
  throw failure
}
