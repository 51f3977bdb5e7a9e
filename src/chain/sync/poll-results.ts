import {
  ChainConfigError,
  describeConfigError,
} from '../../../packages/chain/src/contract/chain-config-error.js'
import { reasonOf } from '../../../packages/protocol/src/errors.js'
import { wordsOf } from '../../../packages/protocol/src/node/node-words.js'
import {
  InconsistentAnswerError,
  type TimedHeader,
} from '../../../packages/protocol/src/node/parse-blocks.js'
import { EventSinkError } from '../event-sink.js'
import type { UnreadBlock } from './chain-state.js'
import type { ChainSyncContext } from './context.js'
import { backoffMs } from './poll-schedule.js'

/** All endpoints have had heads below the known blocks for longer than a node lags. */
class LowerHeadError extends Error {
  override readonly name = 'LowerHeadError'
}

/** The results of a chain's polls, and the state of the chain that follows from them. */
export type PollResults = ReturnType<typeof createPollResults>

interface FailedPlace {
  readonly block: number | undefined
  readonly endpoint: string
}

/** A head that is this many blocks above the last followed one is wrong: no node lags so much. */
const MAX_LAG_BLOCKS = 100
/** Number of polls in a row, and of poll intervals, that may find a lower head. A lagging node catches up earlier. */
const MAX_LOWER_POLLS = 100
const UNREAD_MS = 60_000
const CANNOT_BE_READ =
  'a block cannot be read, and no events are published: this does not mend while the node answers so'

/** Builds the results of one chain's polls. */
export function createPollResults({ config, rpc, metrics, clock, log }: ChainSyncContext) {
  const { endpoints } = rpc
  const { chainId, pollIntervalMs } = config
  let isUp: boolean | undefined
  let head: TimedHeader | undefined
  /** The head when one was followed last. */
  let followed: TimedHeader | undefined
  let failures = 0
  /** Number of endpoints that the last failure concerns. */
  let concerned = endpoints.length
  /** The message that was logged last, while the chain is down. */
  let logged: string | undefined
  let stuck: (UnreadBlock & { readonly since: number }) | undefined
  let lower: { readonly since: number; readonly polls: number } | undefined

  /** Whether failures are enough to call the chain down. A single one is not, after the chain has answered. */
  function isSignificant(error: unknown): boolean {
    if (error instanceof LowerHeadError) return true
    const enough = error instanceof EventSinkError ? 1 : endpoints.length
    return failures >= Math.max(enough, isUp === true ? 2 : 1)
  }

  function unread(): UnreadBlock | undefined {
    if (stuck === undefined || clock.monotonic() - stuck.since < UNREAD_MS) return undefined
    const { since, ...block } = stuck
    return block
  }

  return {
    /** Whether the chain answers and its events can be written; undefined until a poll has ended, or the start has waited for one. */
    isUp: (): boolean | undefined => isUp,

    /** Notes that a poll, or a part of it, succeeded. */
    succeeded(): void {
      failures = 0
      if (isUp === false) log.info({ chainId }, 'the chain is read again')
      isUp = true
      logged = undefined
      stuck = undefined
    },

    /** The highest block seen. */
    head: (): TimedHeader | undefined => head,

    /** Notes a head before it is followed. @returns whether it is higher than all heads before */
    sawHead(seen: TimedHeader): boolean {
      const isHigher = seen.number > (head?.number ?? -1)
      if (isHigher) head = seen
      return isHigher
    },

    /** Notes that a head was followed. @param lastNumber the last known block before it */
    followed(seen: TimedHeader, lastNumber: number): void {
      lower = undefined
      // A lower head counts after a rollback to it. Otherwise this node lags and has not seen a block that another one has. A head that was
      // seen and could not be followed is forgotten.
      const highest = followed?.number ?? 0
      const isLagging = seen.number >= lastNumber && seen.number >= highest - MAX_LAG_BLOCKS
      if (seen.number >= highest || !isLagging) followed = seen
      head = followed
    },

    /** The next block, when it could not be read for a minute. */
    unread,

    /** Whether the last head was lower than the known blocks. */
    isLower: (): boolean => lower !== undefined,

    /**
     * Notes that a head was lower than the known blocks.
     * @throws LowerHeadError when this has lasted for too long
     */
    wasLower({ number }: TimedHeader, lastNumber: number): void {
      const now = clock.monotonic()
      lower = { since: lower?.since ?? now, polls: (lower?.polls ?? 0) + 1 }
      const isLong = now - lower.since >= MAX_LOWER_POLLS * pollIntervalMs
      if (isLong && lower.polls >= MAX_LOWER_POLLS)
        throw new LowerHeadError(`the head is block ${number}, the last block read is ${lastNumber}`)
    },

    /**
     * Notes that a poll failed.
     * @param place the block that the poll could not read, if it had a head, and the host of the endpoint
     * @param isReported whether the caller reports the error, so that it is not logged here
     */
    failed(error: unknown, { block, endpoint }: FailedPlace, isReported: boolean = false): void {
      failures++
      const isOfDatabase = error instanceof EventSinkError
      if (block !== undefined && !isOfDatabase) {
        const since = stuck?.block === block ? stuck.since : clock.monotonic()
        const member = error instanceof InconsistentAnswerError ? error.member : undefined
        stuck = { block, member, endpoint, reason: describeCause(error), since }
      }
      // The head was that of another chain.
      if (error instanceof ChainConfigError) head = followed
      concerned = isOfDatabase ? 1 : endpoints.length
      if (!isOfDatabase) metrics.rpcErrors.inc({ chain_id: chainId })
      if (!isSignificant(error)) return
      isUp = false
      const long = unread()
      const text = long === undefined ? describe(error, chainId) : CANNOT_BE_READ
      if (text !== logged && !isReported) log.error({ chainId, reason: describeCause(error), ...long }, text)
      logged = text
    },

    /**
     * Notes that the service starts before the first poll has ended.
     * @param timeoutMs how long the start has waited
     */
    startedWithout(timeoutMs: number): void {
      if (isUp !== undefined) return
      isUp = false
      log.warn({ chainId, timeoutMs }, 'the chain has not been read yet: it is down until it is')
    },

    /** The pause after failed polls; undefined when the last poll succeeded. */
    backoffMs: (): number | undefined =>
      failures === 0 ? undefined : backoffMs(failures, concerned, pollIntervalMs),
  }
}

function describe(error: unknown, chainId: number): string {
  if (error instanceof EventSinkError) return 'events cannot be written'
  if (error instanceof ChainConfigError) return 'the chain is not what the configuration says'
  if (!(error instanceof LowerHeadError)) return 'the chain does not answer'
  return `every endpoint is lower than the stored blocks, and no events are read: if the chain was reset, start with an empty database; if it is another network, correct RPC_URL_${chainId}; if its nodes were restored, wait until they have caught up`
}

function describeCause(error: unknown): string {
  if (error instanceof ChainConfigError) return describeConfigError(error)
  return error instanceof EventSinkError ? reasonOf(error.cause) : wordsOf(error)
}
