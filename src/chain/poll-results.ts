import { reasonOf } from '../domain/errors.js'
import type { Logger } from '../telemetry/log.js'
import type { Metrics } from '../telemetry/metrics.js'
import { backoffMs } from './endpoint-selector.js'
import { EventSinkError } from './event-sink-error.js'
import { summary } from './rpc-error.js'
import { ChainConfigError, describeConfigError } from './verify-endpoint.js'

/** Every endpoint has had a lower head than the known blocks, for longer than a node lags. */
export class LowerHeadError extends Error {
  override readonly name = 'LowerHeadError'
}

/** What looks at a chain end with, and what that says of the chain. */
export interface PollResults {
  /** Whether the chain answers and what is read of it can be written. */
  isUp(): boolean
  /** Whether the last look has not failed. */
  isTrusted(): boolean
  /** Takes note that a look was good, or a part of it. */
  succeeded(): void
  /** Whether the last head was lower than the known blocks. */
  isLower(): boolean
  /** Takes note that a head was followed. */
  reached(): void
  /**
   * Takes note that a head was lower than the known blocks.
   * @throws LowerHeadError when this has been so for too long
   */
  wasLower(head: number, lastNumber: number): void
  /**
   * Takes note of a look that failed.
   * @param isReported whether the caller says what is wrong, so that it is not logged here as well
   */
  failed(error: unknown, isReported?: boolean): void
  /**
   * Takes note that the service starts before the first look has ended.
   * @param timeoutMs how long the start has waited
   */
  startedWithout(timeoutMs: number): void
  /** How long to wait after failed looks; undefined when the last one has not failed. */
  backoffMs(): number | undefined
}

interface PollResultsOptions {
  readonly chainId: number
  readonly pollIntervalMs: number
  readonly endpointCount: number
  readonly metrics: Pick<Metrics, 'rpcErrors'>
  readonly log: Logger
}

/** How many looks in a row, and poll intervals, may find a lower head: a node that lags catches up meanwhile. */
const MAX_LOWER_POLLS = 100

/** Builds the results of one chain's looks. */
export function createPollResults(options: PollResultsOptions): PollResults {
  const { chainId, pollIntervalMs, endpointCount, metrics, log } = options
  let isUp: boolean | undefined
  let failures = 0
  /** Of how many endpoints the last failure tells something. */
  let concerned = endpointCount
  /** What was logged, while the chain is down. */
  let logged: string | undefined
  let lower: { readonly since: number; readonly polls: number } | undefined

  /** A single failure says little of a chain that has answered before. */
  function isSignificant(error: unknown): boolean {
    if (error instanceof LowerHeadError) return true
    const enough = error instanceof EventSinkError ? 1 : endpointCount
    return failures >= Math.max(enough, isUp === true ? 2 : 1)
  }

  return {
    isUp: () => isUp === true,
    isTrusted: () => failures === 0,

    succeeded() {
      failures = 0
      if (isUp === false) log.info({ chainId }, 'the chain is read again')
      isUp = true
      logged = undefined
    },

    isLower: () => lower !== undefined,

    reached() {
      lower = undefined
    },

    wasLower(head, lastNumber) {
      const now = performance.now()
      lower = { since: lower?.since ?? now, polls: (lower?.polls ?? 0) + 1 }
      const isLong = now - lower.since >= MAX_LOWER_POLLS * pollIntervalMs
      if (isLong && lower.polls >= MAX_LOWER_POLLS)
        throw new LowerHeadError(`the head is block ${head}, the last block read is ${lastNumber}`)
    },

    failed(error, isReported = false) {
      failures++
      const isOfDatabase = error instanceof EventSinkError
      concerned = isOfDatabase ? 1 : endpointCount
      if (!isOfDatabase) metrics.rpcErrors.inc({ chain_id: chainId })
      if (!isSignificant(error)) return
      isUp = false
      const text = describe(error, chainId)
      if (text !== logged && !isReported) log.error({ chainId, reason: describeCause(error) }, text)
      logged = text
    },

    startedWithout(timeoutMs) {
      if (isUp !== undefined) return
      isUp = false
      log.warn({ chainId, timeoutMs }, 'the chain has not been read yet: it is down until it is')
    },

    backoffMs: () => (failures === 0 ? undefined : backoffMs(failures, concerned, pollIntervalMs)),
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
  return error instanceof EventSinkError ? reasonOf(error.cause) : summary(error)
}
