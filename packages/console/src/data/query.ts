import { useSignalEffect } from '@preact/signals'
import { useEffect, useRef, useState } from 'preact/hooks'
import { isVisible } from './clock.js'
import { onEvent } from './events.js'
import { type Failure, toFailure } from './failure.js'
import type { OrderEvent } from './order-event.js'

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
  /** Time between two calls; without it, one call that is repeated only after a failure. */
  readonly refreshMs?: number | undefined
  /** Calls again soon after such an event. */
  readonly refreshOn?: ((event: OrderEvent) => boolean) | undefined
}

interface Answer {
  readonly data: unknown
  readonly updatedAt: number
}

const FIRST_RETRY_MS = 2000
const LONGEST_RETRY_MS = 30_000
/** Many events in a row cause few calls: the instance limits them. */
const AFTER_EVENT_MS = 300
const MIN_PAUSE_MS = 2000
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
  { refreshMs, refreshOn }: QueryOptions = {},
): Query<T> {
  const [, render] = useState(0)
  const state = useRef<{ key: string | undefined; answer: Answer | undefined; failure: Failure | undefined }>(
    {
      key: undefined,
      answer: undefined,
      failure: undefined,
    },
  )
  const runner = useRef<{ run(): void }>({ run() {} })
  if (state.current.key !== key)
    state.current = { key, answer: key === undefined ? undefined : recent.get(key), failure: undefined }

  useEffect(() => {
    if (key === undefined) return
    const ending = new AbortController()
    let timer: ReturnType<typeof setTimeout> | undefined
    let isRunning = false
    let startedAt = 0
    let failures = 0
    const later = (ms: number) => {
      clearTimeout(timer)
      timer = setTimeout(run, ms)
    }
    async function run(): Promise<void> {
      if (isRunning || ending.signal.aborted) return
      if (!isVisible.peek()) return later(MIN_PAUSE_MS)
      isRunning = true
      startedAt = Date.now()
      clearTimeout(timer)
      try {
        const data = await load(ending.signal)
        remember(key ?? '', { data, updatedAt: Date.now() })
        state.current = { key, answer: recent.get(key ?? ''), failure: undefined }
        failures = 0
        if (refreshMs !== undefined) later(refreshMs)
      } catch (thrown) {
        if (ending.signal.aborted) return
        const failure = toFailure(thrown)
        state.current = { ...state.current, failure }
        const pauseMs = Math.min(LONGEST_RETRY_MS, FIRST_RETRY_MS * 2 ** failures++)
        if (mayPass(failure)) later(Math.max(pauseMs, failure.retryAfterMs ?? 0))
      } finally {
        isRunning = false
      }
      if (!ending.signal.aborted) render((count) => count + 1)
    }
    const stop = onEvent((event) => {
      if (refreshOn?.(event)) later(Math.max(AFTER_EVENT_MS, startedAt + MIN_PAUSE_MS - Date.now()))
    })
    runner.current = { run: () => void run() }
    void run()
    return () => {
      stop()
      clearTimeout(timer)
      ending.abort()
    }
  }, [key])

  // A tab that is shown again gets a fresh answer at once.
  useSignalEffect(() => {
    if (isVisible.value) runner.current.run()
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
