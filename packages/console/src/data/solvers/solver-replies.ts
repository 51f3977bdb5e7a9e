import type { SolverStats } from '../../../../../gen/aggregator/v1/solver_stats_pb.js'

type Counts = Pick<
  SolverStats,
  'asked' | 'quoted' | 'declined' | 'invalid' | 'failed' | 'late' | 'softDeadline' | 'won' | 'wonAlone'
>

/** What comes of a request, with the name of its number. */
export const REPLIES = [
  ['quoted', 'Valid offers'],
  ['declined', 'Declined'],
  ['invalid', 'Invalid'],
  ['late', 'Late'],
  ['softDeadline', 'Cut off'],
  ['failed', 'Failed'],
] as const satisfies readonly (readonly [keyof Counts, string])[]

const REASONS: Readonly<Record<(typeof REPLIES)[number][0], string>> = {
  quoted: 'others had better offers.',
  declined: 'it declined most requests.',
  invalid: 'most of its replies were not valid. The records of quotes have the reasons.',
  late: 'most of its replies came too late.',
  softDeadline: 'the soft deadline of this instance cut off most of its replies.',
  failed: 'most requests did not reach it, or the connection broke.',
}

/** Why a solver has won nothing in a window. @returns undefined for one that has won */
export function whyNothingWon(stats: Counts): string | undefined {
  if (stats.asked === 0n) return 'It was not asked in this time.'
  if (stats.won > 0n) return undefined
  if (stats.wonAlone > 0n) return 'It won nothing against others: it only made the one offer of some quotes.'
  const [most] = REPLIES.toSorted(([one], [other]) => Number(stats[other] - stats[one]))
  return most && `It won nothing: ${REASONS[most[0]]}`
}
