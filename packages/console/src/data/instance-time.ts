import { signal } from '@preact/signals'

/** How far the clock of the instance is ahead of that of this computer, in milliseconds, by its last answer; 0 when it is behind. */
export const aheadMs = signal(0)

/** Takes the time of an answer of the instance. @param date the header `Date`, which has whole seconds */
export function noteInstanceTime(date: string | null, nowMs = Date.now()): void {
  const at = Date.parse(date ?? '')
  if (!Number.isNaN(at)) aheadMs.value = Math.max(0, at - nowMs)
}
