import { setMaxListeners } from 'node:events'

/** A signal that is aborted after a number of milliseconds, or with another signal. It must be ended if neither happens. */
export function limitTime(ms: number, signal: AbortSignal): { readonly signal: AbortSignal; end(): void } {
  const controller = new AbortController()
  // As many as want may listen.
  setMaxListeners(0, controller.signal)
  const end = () => {
    clearTimeout(timer)
    signal.removeEventListener('abort', abort)
  }
  const abort = () => {
    end()
    controller.abort()
  }
  const timer = setTimeout(abort, Math.max(0, ms))
  if (signal.aborted) abort()
  else signal.addEventListener('abort', abort)
  return { signal: controller.signal, end }
}
