import {
  CircuitBreakerState,
  NotAskedReason,
  type SolverStats,
} from '../../../../gen/aggregator/v1/solver_stats_pb.js'
import { StateMark, type Tone } from './state-mark.js'
import { Term } from './term.js'

type Words = readonly [word: string, tone: Tone]

const ACTIVE: Words = ['active', 'good']
const NOT_ASKED: Readonly<Record<NotAskedReason, Words>> = {
  [NotAskedReason.UNSPECIFIED]: ACTIVE,
  [NotAskedReason.NOT_REGISTERED]: ['not registered', 'neutral'],
  [NotAskedReason.BOND_TOO_SMALL]: ['bond too small', 'bad'],
  [NotAskedReason.NOT_CONNECTED]: ['not connected', 'waiting'],
  [NotAskedReason.BOND_UNKNOWN]: ['bond not read', 'waiting'],
  [NotAskedReason.CIRCUIT_OPEN]: ['circuit open', 'bad'],
  [NotAskedReason.NOT_ANSWERING]: ['not answering', 'bad'],
}

/** Whether a solver is asked for quotes, and why not, with the way to what that means. */
export function SolverState(stats: Pick<SolverStats, 'notAsked' | 'circuitBreaker' | 'unreachable'>) {
  const [word, tone] = wordsOf(stats)
  return (
    <span>
      <StateMark word={word} tone={tone} />
      {stats.notAsked !== undefined && <Term name="Not asked" />}
    </span>
  )
}

function wordsOf({ notAsked, circuitBreaker, unreachable }: Parameters<typeof SolverState>[0]): Words {
  if (notAsked !== undefined) return NOT_ASKED[notAsked] ?? ACTIVE
  if (unreachable) return ['cannot be reached', 'bad']
  return circuitBreaker === CircuitBreakerState.HALF_OPEN ? ['circuit half open', 'waiting'] : ACTIVE
}
