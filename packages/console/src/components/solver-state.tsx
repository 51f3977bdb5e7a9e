import {
  CircuitBreakerState,
  NotAskedReason,
  type SolverStats,
} from '../../../../gen/aggregator/v1/solver_stats_pb.js'
import { StateMark, type Tone } from './state-mark.js'

type Words = readonly [word: string, tone: Tone, title: string]

const ACTIVE: Words = ['active', 'good', 'Quotes ask it.']
const UNREACHABLE: Words = [
  'cannot be reached',
  'bad',
  'The last request did not reach it. It is asked again.',
]
const PROBED: Words = [
  'circuit half open',
  'waiting',
  'It is asked without a wait, to see whether it answers again.',
]
const NOT_ASKED: Readonly<Record<NotAskedReason, Words>> = {
  [NotAskedReason.UNSPECIFIED]: ACTIVE,
  [NotAskedReason.NOT_REGISTERED]: ['not registered', 'neutral', 'It is not asked.'],
  [NotAskedReason.BOND_TOO_SMALL]: ['bond too small', 'bad', 'It is not asked until it adds to its bond.'],
  [NotAskedReason.NOT_CONNECTED]: [
    'not connected',
    'waiting',
    'Its session has ended: it is not asked until it is back.',
  ],
  [NotAskedReason.BOND_UNKNOWN]: ['bond not read', 'waiting', 'The instance has not read its bond yet.'],
  [NotAskedReason.CIRCUIT_OPEN]: ['circuit open', 'bad', 'It has cost callers time: no quote asks it.'],
  [NotAskedReason.NOT_ANSWERING]: [
    'not answering',
    'bad',
    'It leaves requests open that others have answered.',
  ],
}

/** Whether a solver is asked for quotes, and why not. */
export function SolverState(stats: Pick<SolverStats, 'notAsked' | 'circuitBreaker' | 'unreachable'>) {
  const [word, tone, title] = wordsOf(stats)
  return <StateMark word={word} tone={tone} title={title} />
}

function wordsOf({ notAsked, circuitBreaker, unreachable }: Parameters<typeof SolverState>[0]): Words {
  if (notAsked !== undefined) return NOT_ASKED[notAsked] ?? ACTIVE
  if (unreachable) return UNREACHABLE
  return circuitBreaker === CircuitBreakerState.HALF_OPEN ? PROBED : ACTIVE
}
