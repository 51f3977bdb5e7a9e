import type { Clock, Timer } from '../../../packages/protocol/src/clock.js'

const MAX_BACKOFF_MS = 10_000

/** One poll. A failure affects only the pause after it. */
export type Poll = (run: PollRun) => Promise<void>

/** What a poll gets from the schedule. */
export interface PollRun {
  /** Aborted by `close`. */
  readonly signal: AbortSignal
  /** Called when the poll begins a backfill, which may take hours. */
  readonly onBackfill: () => void
  /** Polls at once, if no poll is under way. It may also be called after the poll has ended. */
  readonly pollSoon: () => void
}

interface PollScheduleOptions {
  readonly poll: Poll
  /** Called after every poll, successful or not. */
  readonly onPolled: () => void
  /** Milliseconds until the next poll, read after every poll; undefined to poll at once. */
  readonly pauseMs: () => number | undefined
  readonly clock: Clock
}

/** Builds the schedule, which decides when polls run. At most one runs at a time. */
export function createPollSchedule({ poll, onPolled, pauseMs, clock }: PollScheduleOptions) {
  const closing = new AbortController()
  let timer: Timer | undefined
  let current: Promise<void> | undefined
  /** Resolves when the last poll has ended or has begun a backfill. */
  let endOrBackfill: Promise<void> | undefined
  /** The poll after the current one. */
  let next: Promise<void> | undefined

  function begin(work: Poll): Promise<void> {
    let onBackfill = () => {}
    const backfill = new Promise<void>((resolve) => {
      onBackfill = resolve
    })
    const result = work({ signal: closing.signal, onBackfill, pollSoon })
    current = result.catch(() => {}).then(continueAfterPoll)
    endOrBackfill = Promise.race([current, backfill])
    return result
  }

  function continueAfterPoll(): void {
    current = undefined
    const pause = pauseMs()
    onPolled()
    if (closing.signal.aborted) return
    if (pause === undefined) pollSoon()
    else timer = clock.setTimeout(pollSoon, pause)
  }

  function pollSoon(): void {
    if (current !== undefined || closing.signal.aborted) return
    timer?.stop()
    begin(poll)
  }

  async function pollAfterCurrent(): Promise<void> {
    await endOrBackfill
    next = undefined
    pollSoon()
    await endOrBackfill
  }

  return {
    /** Runs the first poll, then one after each pause until `close`. @returns the result of the first poll */
    start: begin,
    /**
     * Polls once more. The poll starts after this call. All calls until it starts share it.
     * @returns after the poll has succeeded or failed, or has begun a backfill
     */
    pollNow(): Promise<void> {
      next ??= pollAfterCurrent()
      return next
    },
    /** Starts no more polls. @returns after the current poll has ended */
    async close(): Promise<void> {
      closing.abort()
      timer?.stop()
      await current
    },
  }
}

/**
 * The pause after a number of failures in a row. It is 0 while an endpoint has not been tried. After each round over
 * all endpoints it doubles, with jitter, so that instances do not retry at the same time.
 */
export function backoffMs(failures: number, endpoints: number, pollIntervalMs: number): number {
  if (failures % endpoints !== 0) return 0
  const rounds = failures / endpoints
  const longest = Math.min(MAX_BACKOFF_MS, Math.min(1000, pollIntervalMs) * 2 ** Math.min(rounds - 1, 10))
  return longest * (0.5 + Math.random() / 2)
}
