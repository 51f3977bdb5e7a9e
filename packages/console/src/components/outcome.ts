import { SolverOutcome } from '../../../../gen/aggregator/v1/quote_pb.js'

/** How a solver's request ended, in a word. */
export const OUTCOMES: Readonly<Record<SolverOutcome, string>> = {
  [SolverOutcome.UNSPECIFIED]: 'unknown',
  [SolverOutcome.QUOTED]: 'offer',
  [SolverOutcome.DECLINED]: 'declined',
  [SolverOutcome.INVALID]: 'invalid',
  [SolverOutcome.LATE]: 'late',
  [SolverOutcome.FAILED]: 'failed',
  [SolverOutcome.CANCELLED]: 'cut off',
  [SolverOutcome.SOFT_DEADLINE]: 'cut off',
  [SolverOutcome.CIRCUIT_OPEN]: 'not waited for',
}
