import type { LeaderElection } from '../domain/cluster.js'
import type { Logger } from '../telemetry/log.js'
import type { ChainSnapshot } from './chain-state.js'
import type { ChainSync } from './chain-sync.js'
import { ChainConfigError, describeConfigError } from './verify-endpoint.js'
import { withTimeout } from './with-timeout.js'

/** Leadership of one chain: one replica reads the chain, and the others wait for the leadership. */
export interface ChainLeadership {
  /** The chain sync while this replica is the leader. */
  sync(): ChainSync | undefined
  /**
   * Joins the election.
   * @returns after the chain has answered or failed, after `timeoutMs` at the latest
   * @throws ChainConfigError when it answers and does not match the configuration
   */
  start(timeoutMs: number): Promise<void>
  close(): Promise<void>
}

interface ChainLeadershipOptions {
  readonly chainId: number
  readonly election: LeaderElection
  readonly createChainSync: () => ChainSync
  /** Reads what a follower replica must know of the contract. @throws when the chain does not answer */
  readonly verifyEndpoint: () => Promise<void>
  /** Called when this replica becomes the leader, and when it loses the leadership: then with the last snapshot. */
  readonly onChange: (lastSnapshot?: ChainSnapshot) => void
  readonly log: Logger
}

const RETRY_MS = 1000

/** Builds the leadership of one chain. */
export function createChainLeadership(options: ChainLeadershipOptions): ChainLeadership {
  const { chainId, election, createChainSync, verifyEndpoint, onChange, log } = options
  let sync: ChainSync | undefined
  /** The first poll of the chain sync. */
  let firstPoll: Promise<void> | undefined
  let closing: Promise<unknown> = Promise.resolve()
  let isClosed = false
  let timer: NodeJS.Timeout | undefined
  let timeoutMs = 0
  /** Whether `start` is under way. Its caller reports the configuration error that it throws. */
  let isStarting = false
  /** The configuration error that was logged or thrown last. */
  let lastIssue: string | undefined

  function onAcquired(): void {
    if (isClosed) return
    clearTimeout(timer)
    sync = createChainSync()
    firstPoll = sync.start(timeoutMs)
    firstPoll.catch(logIssue)
    onChange()
  }

  function onLost(): void {
    log.warn({ chainId }, 'this replica no longer reads the chain')
    const ended = sync
    sync = undefined
    firstPoll = undefined
    closing = Promise.all([closing, ended?.close()])
    onChange(ended?.snapshot())
    verifySoon()
  }

  function verifySoon(): void {
    if (isClosed || sync !== undefined) return
    clearTimeout(timer)
    timer = setTimeout(() => verifyEndpoint().catch(onFailure), RETRY_MS)
  }

  async function verifyFirst(): Promise<void> {
    const verified = verifyEndpoint()
    verified.catch(onFailure)
    await withTimeout(verified, timeoutMs).catch((error) => {
      if (error instanceof ChainConfigError) throw error
    })
  }

  function onFailure(error: unknown): void {
    logIssue(error)
    verifySoon()
  }

  function logIssue(error: unknown): void {
    const issue = error instanceof ChainConfigError ? describeConfigError(error) : undefined
    if (issue !== undefined && issue !== lastIssue && !isClosed && !isStarting)
      log.error({ chainId, reason: issue }, 'the chain is not what the configuration says')
    lastIssue = issue
  }

  return {
    sync: () => sync,
    async start(firstTimeoutMs) {
      timeoutMs = firstTimeoutMs
      isStarting = true
      try {
        await election.acquire(`chain ${chainId}`, { onAcquired, onLost })
        await (firstPoll ?? verifyFirst())
      } finally {
        isStarting = false
      }
    },
    async close() {
      isClosed = true
      clearTimeout(timer)
      await Promise.all([closing, sync?.close()])
    },
  }
}
