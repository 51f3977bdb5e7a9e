import type { Hex } from 'viem'
import type { Clock } from '../../../../src/clock.js'
import type { SolverChain } from './open-chain.js'

/** A block that the node can show by its hash. */
export interface Head {
  readonly number: number
  readonly hash: Hex
  /** Unix time in seconds. */
  readonly time: number
}

/** The time on a chain. The contract compares deadlines with it, and the clock of this machine may be wrong. */
export type ChainTime = ReturnType<typeof createChainTime>

/** Blocks over which the time between two is measured. */
const MEASURED_BLOCKS = 100
const STALE_AFTER = { seconds: 60, blocks: 10 }
/** Polls without an answer until a chain counts as blind, and their least time. */
const BLIND_AFTER = { polls: 20, ms: 5_000 }

/** Builds it. @param past a block before the head, or the head itself on a new chain */
export function createChainTime(clock: Pick<Clock, 'now' | 'monotonic'>, past: Head, first: Head) {
  let head = first
  let answeredAt = clock.monotonic()
  /** Two blocks, of which the older one is at most twice as many blocks back as are measured. */
  let older = past
  let newer = first
  const unixSeconds = () => Math.floor(clock.now() / 1000)

  /** The usual time between two blocks. */
  function blockSeconds(): number {
    const blocks = head.number - older.number
    return blocks > 0 ? Math.max(0, head.time - older.time) / blocks : 0
  }

  return {
    /** Takes the newest block. */
    see(next: Head): void {
      head = next
      // A chain of a test may have begun again, below.
      if (head.number < older.number) older = head
      if (head.number < newer.number) newer = head
      if (head.number - newer.number < MEASURED_BLOCKS) return
      older = newer
      newer = head
    },
    /** The newest block. */
    head: () => head,
    /** The time of the newest block, Unix seconds: what is over at this time is over for the contract. */
    passed: () => head.time,
    /** The later one of the newest block's time and this machine's clock, Unix seconds: what comes may be as late as that. */
    now: () => Math.max(head.time, unixSeconds()),
    blockSeconds,
    /** Whether the newest block is older than the longer one of a minute and ten block times: time passes that no block shows. */
    isStale(): boolean {
      const limit = Math.max(STALE_AFTER.seconds, STALE_AFTER.blocks * blockSeconds())
      return unixSeconds() - head.time > limit
    },
    /** The node has shown its newest block, and what it has. */
    answered(): void {
      answeredAt = clock.monotonic()
    },
    /** Whether the node has not answered for long. */
    isBlind: (pollIntervalMs: number) =>
      clock.monotonic() - answeredAt > Math.max(BLIND_AFTER.polls * pollIntervalMs, BLIND_AFTER.ms),
  }
}

/**
 * Reads the newest block, and once more by its hash: an endpoint of several nodes must not name a block that it does not have.
 * @throws viem's errors
 */
export async function readHead({ client }: Pick<SolverChain, 'client'>): Promise<Head> {
  const { hash } = await client.getBlock({ blockTag: 'latest' })
  const { number, timestamp } = await client.getBlock({ blockHash: hash })
  return { number: Number(number), hash, time: Number(timestamp) }
}

/** Builds the time of a chain from its newest block and one before. @throws viem's errors */
export async function readChainTime(
  chain: Pick<SolverChain, 'client'>,
  clock: Pick<Clock, 'now' | 'monotonic'>,
): Promise<ChainTime> {
  const head = await readHead(chain)
  const number = Math.max(0, head.number - MEASURED_BLOCKS)
  const past = await chain.client.getBlock({ blockNumber: BigInt(number) })
  return createChainTime(clock, { number, hash: past.hash, time: Number(past.timestamp) }, head)
}
