import type { Finding } from './benchmark.js'

/** Whether a figure is within its thresholds. A value that is not a number never is. */
export function isMet({ value, atLeast = value, atMost = value }: Finding): boolean {
  return Number.isFinite(value) && value >= atLeast && value <= atMost
}

/** A finding's thresholds in words. */
export function thresholdsOf({ atLeast, atMost }: Finding): string {
  const lines = [
    ...(atLeast === undefined ? [] : [`at least ${atLeast}`]),
    ...(atMost === undefined ? [] : [`at most ${atMost}`]),
  ]
  return lines.join(', ')
}

/** "ok" or "MISSED". */
export function verdictOn(finding: Finding): string {
  return isMet(finding) ? 'ok' : 'MISSED'
}
