import type { SolverResult } from '../../packages/protocol/src/solvers/solver-result.js'
import type { SolverAttempt } from './attempt.js'

/** How many solvers a round waits for, and their results by kind. */
export interface RoundCounts extends Readonly<Record<SolverResult['kind'], number>> {
  readonly asked: number
}

/** Counts the results that have come. @param asked the solvers that the round waits for */
export function countResults(asked: number, attempts: readonly Pick<SolverAttempt, 'result'>[]): RoundCounts {
  const unanswered = { late: 0, soft_deadline: 0, failed: 0, cancelled: 0 }
  const counts = { asked, quoted: 0, declined: 0, invalid: 0, ...unanswered }
  for (const { result } of attempts) counts[result.kind]++
  return counts
}

/** The number of solvers whose result is known. */
export function countAnswered({ asked: _, ...byKind }: RoundCounts): number {
  return Object.values(byKind).reduce((sum, count) => sum + count, 0)
}
