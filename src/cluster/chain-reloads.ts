import type { Clock } from '../../packages/protocol/src/clock.js'
import { reasonOf } from '../../packages/protocol/src/errors.js'
import { createRetry } from '../concurrency/retry.js'
import type { Topic } from '../store/topics.js'
import type { Logger } from '../telemetry/log.js'
import type { ClusterBus } from './cluster.js'

interface ChainReloadsOptions {
  readonly cluster: ClusterBus
  /** Its messages are ids of chains. */
  readonly topic: Topic
  readonly chainIds: readonly number[]
  /** Reads the state of a chain from the store. */
  readonly reload: (chainId: number) => Promise<unknown>
  readonly clock: Clock
  readonly log: Logger
}

/**
 * Starts to follow the changes that other replicas make: reloads a chain after each message about its state, and all chains after lost messages.
 */
export function startChainReloads({ cluster, topic, chainIds, reload, clock, log }: ChainReloadsOptions) {
  const retryOf = (chainId: number) =>
    createRetry({
      async work() {
        await reload(chainId)
      },
      onFailure: (error) =>
        log.warn({ reason: reasonOf(error) }, 'the changes of other replicas could not be read'),
      onRecovery: () => log.info('the changes of other replicas are read again'),
      clock,
    })
  const retries = new Map(chainIds.map((chainId) => [chainId, retryOf(chainId)]))
  cluster.listen(topic, {
    onMessage: (chainId) => retries.get(Number(chainId))?.run(),
    onMissed() {
      for (const retry of retries.values()) retry.run()
    },
  })
  return {
    /** Reloads a chain's state in the background. The reload begins after this call, and is repeated until it succeeds. */
    reload: (chainId: number): void => retries.get(chainId)?.run(),
    /** Reloads nothing any more. @returns after the current reloads have ended */
    async close(): Promise<void> {
      await Promise.all([...retries.values()].map((retry) => retry.close()))
    },
  }
}
