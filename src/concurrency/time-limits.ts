import { setMaxListeners } from 'node:events'
import type { Clock } from '../../packages/protocol/src/clock.js'
import type { CallSignal } from '../clients/call.js'

/** A signal that is aborted after a number of milliseconds, or with another signal. It must be ended if neither happens. */
export function limitTime(
  ms: number,
  signal: CallSignal,
  clock: Clock,
): { readonly signal: AbortSignal; end(): void } {
  const controller = new AbortController()
  // As many as want may listen.
  setMaxListeners(0, controller.signal)
  const end = () => {
    timer.stop()
    signal.removeEventListener('abort', abort)
  }
  const abort = () => {
    end()
    controller.abort()
  }
  const timer = clock.setTimeout(abort, Math.max(0, ms))
  if (signal.aborted) abort()
  else signal.addEventListener('abort', abort)
  return { signal: controller.signal, end }
}

/** A promise took longer than its caller waits. */
export class TimeoutError extends Error {
  override readonly name = 'TimeoutError'
}

/**
 * Waits for a promise, for at most a number of milliseconds. The work itself continues after that time.
 * @throws TimeoutError after that time; before it, the promise's own error
 */
export function withTimeout<T>(promise: Promise<T>, timeoutMs: number, clock: Clock): Promise<T> {
  return new Promise((resolve, reject) => {
    const timer = clock.setTimeout(
      () => reject(new TimeoutError(`no answer within ${timeoutMs} ms`)),
      timeoutMs,
    )
    promise.then(resolve, reject).finally(timer.stop)
  })
}

/** Waits until a promise is settled, or a signal is aborted. */
export function untilAborted(promise: Promise<unknown>, signal: CallSignal): Promise<void> {
  return new Promise((resolve) => {
    const end = () => {
      signal.removeEventListener('abort', end)
      resolve()
    }
    promise.then(end, end)
    signal.addEventListener('abort', end)
  })
}
