import { BlockNotFoundError, type Hex } from 'viem'
import type { Clock } from '../../../protocol/src/clock.js'
import { headerIn, InconsistentAnswerError } from '../../../protocol/src/node/parse-blocks.js'
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

/** The time between two blocks is measured over so many at least. */
const MEASURED_BLOCKS = 100
/**
 * The least time between the first block that is read again and the last one that was read, in seconds of the chain. The node may have
 * shown its logs late.
 */
const OVERLAP_SECONDS = 60
/** Of the newest one in an average. */
const NEWEST_SHARE = 0.25
/** Ahead of what is likely, or ten block times where that is longer. Then the second block is believed. */
const FAR_SECONDS = 300
/** Above the last block. */
const FAR_BLOCKS = 1_000
const STALE_AFTER = { seconds: 60, blocks: 10 }
const QUIET = { seconds: 5, blocks: 2 }
/** Polls without an answer until a chain counts as blind, and their least time. */
const BLIND_AFTER = { polls: 20, ms: 5_000 }

/**
 * Builds it.
 * @param past a block before the head by which all that is measured is known, or the first one of the chain
 * @param confirmations the blocks that a reorganisation may replace
 */
export function createChainTime(clock: Clock, past: Head, first: Head, confirmations: number) {
  let head = first
  let doubted = first
  let answeredAt = clock.monotonic()
  let lookMs = 0
  let lag = 0
  /** The oldest first. */
  let seen: readonly Head[] = [past, first]
  const unixSeconds = () => Math.floor(clock.now() / 1000)
  /** How far a block is ahead of the clock that is never set, when it is seen. */
  const aheadOf = ({ time }: Head) => time - clock.monotonic() / 1000
  let headAhead = aheadOf(first)
  /** The most that two blocks in turn have been: others have come late. */
  let ahead = headAhead
  /** The time that a block would have which came now: no earlier, whatever the clock of this machine says. */
  const likely = () => Math.max(head.time, Math.floor(Math.max(ahead, headAhead) + clock.monotonic() / 1000))
  const now = () => Math.max(likely(), unixSeconds())

  const blocks = Math.max(MEASURED_BLOCKS, confirmations)

  const isBefore = (block: Head, seconds: number, blocks: number) =>
    block.time <= head.time - seconds && block.number <= head.number - blocks

  /** The usual time between two blocks. */
  function blockSeconds(): number {
    const { number, time } = seen[0] ?? head
    return head.number > number ? Math.max(0, head.time - time) / (head.number - number) : 0
  }

  const quietSeconds = () => Math.max(QUIET.seconds, QUIET.blocks * blockSeconds())

  /** A node may show a block of another chain, and orders end by its time; or one of an old state, after which all is read again. */
  function isFar(block: Head): boolean {
    const seconds = Math.max(FAR_SECONDS, STALE_AFTER.blocks * blockSeconds())
    const isFarInNumber = block.number < head.number - blocks || block.number > head.number + FAR_BLOCKS
    return isFarInNumber || block.time - now() > seconds
  }

  return {
    /** Takes the newest block. One that is far from the last one must be followed by another one. @returns whether it counts */
    see(next: Head): boolean {
      const isFollowed = isFar(doubted) && next.number > doubted.number
      doubted = next
      if (isFar(next) && !isFollowed) return false
      if (next.number > head.number) lag += (Math.max(0, now() - next.time) - lag) * NEWEST_SHARE
      ahead = Math.max(ahead, Math.min(headAhead, aheadOf(next)))
      headAhead = aheadOf(next)
      head = next
      // Those above have gone with a reorganisation, and lower ones are not needed any more.
      const lower = seen.filter(({ number }) => number < next.number)
      const from = lower.findLastIndex((block) => isBefore(block, OVERLAP_SECONDS, blocks))
      seen = [...lower.slice(Math.max(0, from)), next]
      return true
    },
    /** So many blocks below the newest one; so many that no reorganisation is expected to remove it when left out. */
    atDepth: (blocks = confirmations) => ({ blockNumber: BigInt(Math.max(0, head.number - blocks)) }),
    /** How many blocks are read again that were read: a reorganisation may have replaced them, or the node shown their logs late. */
    overlap(): number {
      const from =
        seen.findLast((block) => isBefore(block, OVERLAP_SECONDS, confirmations)) ?? seen[0] ?? head
      return head.number - from.number
    },
    /** The time of the newest block, Unix seconds: what is over at this time is over for the contract. */
    passed: () => head.time,
    /** The earlier one of the last two blocks' times: one block may be of a fork, or its time wrong. What is given up is given up by this. */
    surelyPassed: () => Math.min(head.time, seen.at(-2)?.time ?? head.time),
    /**
     * What is over by this time is over for the next block: the newest block's time, or while none comes, what is likely, so many seconds
     * later. It is no later than that of a block which the node does not show yet.
     */
    due: () => Math.max(head.time, Math.floor(likely() - quietSeconds())),
    /** For so long without a block, none is expected to have come. */
    quietSeconds,
    /** The later one of what is likely and this machine's clock, Unix seconds: what comes may be as late as that. */
    now,
    blockSeconds,
    /** Takes how long a look at the newest block has taken. */
    looked(ms: number): void {
      lookMs += (ms - lookMs) * NEWEST_SHARE
    },
    /** How old the blocks are when the node shows them. */
    lagSeconds: () => lag,
    /** How long such a look takes: two calls of the node. */
    lookSeconds: () => lookMs / 1000,
    /** Whether the newest block is older than the longer one of a minute and ten block times: time passes that no block shows. */
    isStale(): boolean {
      const limit = Math.max(STALE_AFTER.seconds, STALE_AFTER.blocks * blockSeconds())
      return now() - head.time > limit
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
 * @throws viem's errors, and InconsistentAnswerError, also for a time that is none of a deadline: orders would end by it
 */
export async function readHead({ client }: SolverChain): Promise<Head> {
  const newest = await client.request({ method: 'eth_getBlockByNumber', params: ['latest', false] })
  const params = [headerIn(newest, 'latest').hash, false] as const
  const block = await client.request({ method: 'eth_getBlockByHash', params: [...params] })
  const { number, hash, timestampMs } = headerIn(block, params[0])
  const time = timestampMs / 1000
  // Deadlines have 32 bits.
  if (time > 0 && time < 2 ** 32) return { number, hash, time }
  throw new InconsistentAnswerError(`block ${hash} has no valid timestamp`)
}

/** Builds the time of a chain from its newest block and an earlier one. @throws viem's errors */
export async function readChainTime(chain: SolverChain, clock: Clock): Promise<ChainTime> {
  const head = await readHead(chain)
  for (let blocks = Math.max(MEASURED_BLOCKS, chain.confirmations); ; blocks *= 4) {
    const number = Math.max(0, head.number - blocks)
    const past = await chain.client.getBlock({ blockNumber: BigInt(number) }).catch((error) => {
      // Some chains have numbers without a block.
      if (number === 0 || !(error instanceof BlockNotFoundError)) throw error
    })
    if (past === undefined) continue
    const time = Number(past.timestamp)
    if (number === 0 || time <= head.time - OVERLAP_SECONDS)
      return createChainTime(clock, { number, hash: past.hash, time }, head, chain.confirmations)
  }
}
