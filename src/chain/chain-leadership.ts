import type { LeaderElection } from '../domain/cluster.js'
import type { Logger } from '../telemetry/log.js'
import type { ChainSnapshot } from './chain-state.js'
import type { ChainSync } from './chain-sync.js'
import { ChainConfigError, describeConfigError } from './verify-endpoint.js'
import { withTimeout } from './with-timeout.js'

/** The office of reading a chain: one replica holds it, all others wait for it. */
export interface ChainLeadership {
  /** The reading, while this replica holds the office. */
  sync(): ChainSync | undefined
  /**
   * Runs for the office from now on.
   * @returns once the chain has answered or failed, after `timeoutMs` at the latest
   * @throws ChainConfigError when it answers and is not what the configuration says
   */
  start(timeoutMs: number): Promise<void>
  close(): Promise<void>
}

interface ChainLeadershipOptions {
  readonly chainId: number
  readonly election: LeaderElection
  readonly createChainSync: () => ChainSync
  /** Learns of a chain what somebody must know who does not read it. @throws when the chain does not answer */
  readonly verifyEndpoint: () => Promise<void>
  /** Called when the office has been won, or lost: then with what was seen last. */
  readonly onChange: (lastView?: ChainSnapshot) => void
  readonly log: Logger
}

const RETRY_MS = 1000

/** Builds the office of one chain. */
export function createChainLeadership(options: ChainLeadershipOptions): ChainLeadership {
  const { chainId, election, createChainSync, verifyEndpoint, onChange, log } = options
  let sync: ChainSync | undefined
  /** The first look of the reading. */
  let firstPoll: Promise<void> | undefined
  let closing: Promise<unknown> = Promise.resolve()
  let isClosed = false
  let timer: NodeJS.Timeout | undefined
  let timeoutMs = 0
  /** Whether `start` is under way: it throws a mistake, which its caller reports. */
  let isStarting = false
  /** What is wrong with the chain, as it was logged or thrown. */
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
    log.warn({ chainId }, 'the chain is no longer read here')
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
