import type { CheckResult } from './benchmark.js'

/** Whether a figure is on the right side of its lines; what is no number is not. */
export function isMet({ value, atLeast, atMost }: CheckResult): boolean {
  return (
    Number.isFinite(value) &&
    (atLeast === undefined || value >= atLeast) &&
    (atMost === undefined || value <= atMost)
  )
}

/** A finding's lines in words. */
export function linesOf({ atLeast, atMost }: CheckResult): string {
  const lines = [
    ...(atLeast === undefined ? [] : [`at least ${atLeast}`]),
    ...(atMost === undefined ? [] : [`at most ${atMost}`]),
  ]
  return lines.join(', ')
}

/** "ok" or "MISSED". */
export function verdictOn(checkResult: CheckResult): string {
  return isMet(checkResult) ? 'ok' : 'MISSED'
}
