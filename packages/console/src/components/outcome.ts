import { SolverOutcome } from '../../../../gen/aggregator/v1/quote_pb.js'
import type { Tone } from './state-mark.js'

const OUTCOMES: Readonly<Record<SolverOutcome, readonly [word: string, tone: Tone]>> = {
  [SolverOutcome.UNSPECIFIED]: ['unknown', 'neutral'],
  [SolverOutcome.QUOTED]: ['offer', 'neutral'],
  [SolverOutcome.DECLINED]: ['declined', 'neutral'],
  [SolverOutcome.INVALID]: ['invalid', 'bad'],
  [SolverOutcome.LATE]: ['late', 'bad'],
  [SolverOutcome.FAILED]: ['failed', 'bad'],
  [SolverOutcome.CANCELLED]: ['cut off', 'neutral'],
  [SolverOutcome.SOFT_DEADLINE]: ['cut off', 'neutral'],
  [SolverOutcome.CIRCUIT_OPEN]: ['not waited for', 'neutral'],
}

/** How a solver's request ended, in a word. */
export const outcomeWord = (outcome: SolverOutcome) => OUTCOMES[outcome]?.[0] ?? 'other'
/** What that means for the solver. */
export const outcomeTone = (outcome: SolverOutcome) => OUTCOMES[outcome]?.[1] ?? 'neutral'
