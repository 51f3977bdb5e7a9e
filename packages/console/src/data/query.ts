import { effect, useSignalEffect } from '@preact/signals'
import { useEffect, useRef, useState } from 'preact/hooks'
import { isVisible } from './clock.js'
import { beganAt, isFollowing, onEvent } from './events.js'
import { type Failure, toFailure } from './failure.js'
import { usedAt } from './last-use.js'
import { isStaleAt, retryPause, spread } from './request-times.js'
import type { OrderEvent } from './stream-messages.js'

/** The answer of a call that is repeated. */
export interface Query<T> {
  /** The last answer; kept while a later call fails. */
  readonly data: T | undefined
  /** Undefined when the last call succeeded. */
  readonly failure: Failure | undefined
  /** When the last answer came, Unix time in milliseconds. */
  readonly updatedAt: number | undefined
  refresh(): void
}

interface QueryOptions {
  /** Time between two calls. */
  readonly refreshMs?: number | undefined
  /** Calls again soon after such an event, when a stream of events begins, and every half minute without one. */
  readonly refreshOn?: ((event: OrderEvent) => boolean) | undefined
  /**
   * Time between two calls that events cause, at least. For events that concern all consoles: each calls at another time, after a
   * quarter to half of it.
   */
  readonly eventPauseMs?: number | undefined
  /** Calls again when a person uses the console and the answer is older than a minute. For long times between two calls. */
  readonly refreshOnUse?: boolean | undefined
}

interface Answer {
  readonly data: unknown
  readonly updatedAt: number
}

const LONGEST_RETRY_MS = 30_000
/** Many events in a row cause few calls: the instance limits them. */
const AFTER_EVENT_MS = 300
const EVENT_PAUSE_MS = 2000
const UNFOLLOWED_MS = 30_000
/** An answer of this age is shown again without a call. */
const FRESH_MS = 10_000
/** Answers that a page shows at once when it is opened again. */
const recent = new Map<string, Answer>()
const MAX_RECENT = 40

/**
 * Calls the instance while the component is shown and the tab can be seen. A failed call is repeated.
 * @param key names the call with its arguments; undefined makes none
 */
export function useQuery<T>(
  key: string | undefined,
  load: (signal: AbortSignal) => Promise<T>,
  { refreshMs, refreshOn, eventPauseMs, refreshOnUse = false }: QueryOptions = {},
): Query<T> {
  const [, render] = useState(0)
  const fresh = { key, answer: recent.get(key ?? ''), failure: undefined as Failure | undefined }
  const state = useRef(fresh)
  const runner = useRef({ run() {}, wake() {} })
  if (state.current.key !== key) state.current = fresh

  useEffect(() => {
    if (key === undefined) return
    const ending = new AbortController()
    let timer: ReturnType<typeof setTimeout> | undefined
    let dueAt = Number.POSITIVE_INFINITY
    let isRunning = false
    let startedAt = 0
    let failures = 0
    const callAt = (at: number) => {
      clearTimeout(timer)
      dueAt = at
      timer = setTimeout(run, at - Date.now())
    }
    /** Events in a row must not put a call off, and none may shorten the pause after a failure. */
    const callAfterEvent = () => {
      const soonMs = AFTER_EVENT_MS + ((1 + Math.random()) * (eventPauseMs ?? 0)) / 4
      const at = Math.max(Date.now() + soonMs, startedAt + (eventPauseMs ?? EVENT_PAUSE_MS))
      const isRetry = failures > 0 && Number.isFinite(dueAt)
      if (!isRetry && at < dueAt) callAt(at)
    }
    async function run(): Promise<void> {
      // A hidden tab asks nothing. When it is shown again, what is due is asked.
      if (isRunning || ending.signal.aborted || !isVisible.peek()) return
      isRunning = true
      startedAt = Date.now()
      dueAt = Number.POSITIVE_INFINITY
      clearTimeout(timer)
      try {
        const data = await load(ending.signal)
        remember(key ?? '', { data, updatedAt: Date.now() })
        state.current = { key, answer: recent.get(key ?? ''), failure: undefined }
        failures = 0
        // An event may have come meanwhile.
        const next = Math.min(dueAt, Date.now() + spread(refreshMs ?? Number.POSITIVE_INFINITY))
        if (Number.isFinite(next)) callAt(next)
      } catch (thrown) {
        if (ending.signal.aborted) return
        const failure = toFailure(thrown)
        state.current = { ...state.current, failure }
        const pauseMs = retryPause(++failures, { longestMs: LONGEST_RETRY_MS })
        if (mayPass(failure)) callAt(Date.now() + Math.max(pauseMs, failure.retryAfterMs ?? 0))
      } finally {
        isRunning = false
      }
      if (!ending.signal.aborted) render((count) => count + 1)
    }
    runner.current = {
      run: () => void run(),
      wake() {
        const updatedAt = state.current.answer?.updatedAt ?? 0
        // Events that came meanwhile are sent when the tab is shown again.
        const isOld =
          (refreshOn === undefined || refreshMs !== undefined) && updatedAt < Date.now() - FRESH_MS
        if (startedAt === 0 || dueAt <= Date.now() || isOld) void run()
      },
    }
    void run()
    const stop = refreshOn && onEvent((event) => refreshOn(event) && callAfterEvent())
    // Without a stream, nothing reports changes; and one that begins has no events of the time before.
    const unfollow = effect(() => {
      if (refreshOn === undefined || refreshMs !== undefined) return
      if (isFollowing.value) {
        if (startedAt < beganAt.value) callAfterEvent()
      } else {
        const poll = setInterval(() => failures === 0 && run(), spread(UNFOLLOWED_MS))
        return () => clearInterval(poll)
      }
    })
    return () => {
      stop?.()
      unfollow()
      clearTimeout(timer)
      ending.abort()
    }
  }, [key])

  useSignalEffect(() => {
    const { answer, failure } = state.current
    const isRefused = answer === undefined || failure !== undefined
    if (refreshOnUse && isStaleAt(usedAt.value, answer?.updatedAt ?? 0) && !isRefused) runner.current.run()
  })

  // A tab that is shown again gets a fresh answer at once.
  useSignalEffect(() => {
    if (isVisible.value) runner.current.wake()
  })

  const { answer, failure } = state.current
  return {
    data: answer?.data as T | undefined,
    failure,
    updatedAt: answer?.updatedAt,
    refresh: () => runner.current.run(),
  }
}

/** Whether another attempt may succeed: what the caller did wrong stays wrong. */
export function mayPass({ reason }: Failure): boolean {
  return !/ARGUMENT|NOT_FOUND|NOT_SUPPORTED|UNIMPLEMENTED/.test(reason)
}

function remember(key: string, answer: Answer): void {
  recent.delete(key)
  recent.set(key, answer)
  const [oldest] = recent.keys()
  if (recent.size > MAX_RECENT && oldest !== undefined) recent.delete(oldest)
}
