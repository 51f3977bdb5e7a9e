import { SolverOutcome } from '../../../../../gen/aggregator/v1/quote_pb.js'
import type { Attempt, Round } from './auction.js'

/** The outcomes without an offer: what the sentence of so many solvers says. */
const SENTENCES: readonly (readonly [outcomes: readonly SolverOutcome[], said: string])[] = [
  [[SolverOutcome.DECLINED], 'declined'],
  [
    [SolverOutcome.LATE, SolverOutcome.SOFT_DEADLINE, SolverOutcome.CIRCUIT_OPEN, SolverOutcome.CANCELLED],
    'did not answer in time',
  ],
  [[SolverOutcome.FAILED], 'could not be reached'],
  [[SolverOutcome.INVALID], 'made an offer that is not valid'],
]

/**
 * Why a round has ended without an offer: no solver is active, solvers declined for reasons, or none answered in time.
 * @param activeSolvers of the chain
 */
export function whyNoOffer(
  { attempts, asked, answered, isRecorded }: Pick<Round, 'attempts' | 'asked' | 'answered' | 'isRecorded'>,
  activeSolvers: number,
): string {
  if (activeSolvers === 0) return 'No solver is active on this chain.'
  if (isRecorded && attempts.length > 0)
    return SENTENCES.flatMap((kind) => sentenceOf(kind, attempts)).join(' ')
  if (asked > 0 && answered === 0) return 'No answer in time.'
  return 'No solver has made an offer.'
}

function sentenceOf(
  [outcomes, said]: (typeof SENTENCES)[number],
  attempts: readonly Pick<Attempt, 'outcome' | 'reason'>[],
): string[] {
  const own = attempts.filter(({ outcome }) => outcomes.includes(outcome))
  if (own.length === 0) return []
  const isAll = own.length === attempts.length
  if (isAll && said === 'did not answer in time') return ['No answer in time.']
  const counts = new Map<string, number>()
  for (const { reason } of own) if (reason !== '') counts.set(reason, (counts.get(reason) ?? 0) + 1)
  const reasons = [...counts]
    .toSorted(([, a], [, b]) => b - a)
    .map(([reason, count]) => `${reason} (${count})`)
  return [
    `${own.length} ${own.length === 1 ? 'solver' : 'solvers'} ${said}${reasons.length === 0 ? '' : `: ${reasons.join(', ')}`}.`,
  ]
}
