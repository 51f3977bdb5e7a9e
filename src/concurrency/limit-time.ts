import { setMaxListeners } from 'node:events'
import { type Clock, systemClock } from '../clock.js'

/** A signal that is aborted after a number of milliseconds, or with another signal. It must be ended if neither happens. */
export function limitTime(
  ms: number,
  signal: AbortSignal,
  clock: Pick<Clock, 'setTimeout'> = systemClock,
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
