import {
  ChainConfigError,
  describeConfigError,
} from '../../../packages/chain/src/contract/chain-config-error.js'
import { createRetry } from '../../concurrency/retry.js'
import { withTimeout } from '../../concurrency/time-limits.js'
import type { ChainContext } from '../context.js'
import type { ChainState, RemoteChainState } from './chain-state.js'
import type { ChainSync } from './chain-sync.js'

/** Time that each chain has for its first answer before the service starts without it. */
const START_TIMEOUT_MS = 3000

/** What a leadership changes. */
interface LedParts {
  /** Builds the chain sync of one leadership. */
  readonly createChainSync: () => ChainSync
  readonly remoteState: RemoteChainState
  /** Reads what a follower replica must know of the contract. @throws when the chain does not answer */
  readonly verifyEndpoint: () => Promise<void>
  /**
   * Called when this replica becomes the leader, with the state of its chain sync, and when it loses the leadership, with the received
   * state.
   */
  readonly onChange: (state: ChainState) => void
}

/** Builds the leadership of one chain: one replica reads the chain, and the others wait for the leadership. */
export function createChainLeadership(
  { config, cluster, clock, log }: ChainContext,
  { createChainSync, remoteState, verifyEndpoint, onChange }: LedParts,
) {
  const { chainId } = config
  /** Set while this replica is the leader. */
  let leading: { readonly sync: ChainSync; readonly firstPoll: Promise<void> } | undefined
  let closing: Promise<unknown> = Promise.resolve()
  let isClosed = false
  /** Whether `start` is under way. Its caller reports the configuration error that it throws. */
  let isStarting = false
  /** The last verification on a follower replica. */
  let verified: Promise<void> = Promise.resolve()

  let lastIssue: string | undefined
  const verification = createRetry({
    clock,
    async work() {
      if (leading !== undefined) return
      verified = verifyEndpoint()
      try {
        await verified
      } catch (error) {
        onFailure(error)
        throw error
      }
    },
  })

  function onAcquired(): void {
    if (isClosed) return
    const sync = createChainSync()
    const firstPoll = sync.start(START_TIMEOUT_MS)
    firstPoll.catch(onFailure)
    leading = { sync, firstPoll }
    onChange(sync)
  }

  function onLost(): void {
    log.warn({ chainId }, 'this replica no longer reads the chain')
    if (leading !== undefined) {
      const { sync } = leading
      leading = undefined
      closing = Promise.all([closing, sync.close()])
      remoteState.continueFrom(sync.snapshot)
    }
    onChange(remoteState)
    verification.run()
  }

  /** Logs a configuration error once, until another result comes. */
  function onFailure(error: unknown): void {
    const issue = error instanceof ChainConfigError ? describeConfigError(error) : undefined
    if (issue !== undefined && issue !== lastIssue && !isStarting && !isClosed)
      log.error({ chainId, reason: issue }, 'the chain is not what the configuration says')
    lastIssue = issue
  }

  return {
    isLeader: (): boolean => leading !== undefined,
    /**
     * Joins the election.
     * @returns after the chain has answered or failed, after three seconds at the latest
     * @throws ChainConfigError when it answers and does not match the configuration
     */
    async start(): Promise<void> {
      isStarting = true
      try {
        await cluster.acquire(`chain ${chainId}`, { onAcquired, onLost })
        if (leading === undefined) verification.run()
        const firstAnswer = leading?.firstPoll ?? withTimeout(verified, START_TIMEOUT_MS, clock)
        await firstAnswer.catch((error) => {
          if (error instanceof ChainConfigError) throw error
        })
      } finally {
        isStarting = false
      }
    },
    async close(): Promise<void> {
      isClosed = true
      await Promise.all([closing, leading?.sync.close(), verification.close()])
    },
  }
}
